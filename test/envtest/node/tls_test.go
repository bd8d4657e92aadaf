package node

import (
	"crypto/tls"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/certificates"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// Certificates of sidecars, from a Secret that a kubelet mounts to the handshake.

// notTheAuthority leaves out what an operator does once, for its authority, and not for a node.
func notTheAuthority(r envtest.Request) bool { return r.Name != certificates.SecretName }

func certificateOf(name string) string {
	return render.CertificateName(&v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

func (w nodes) certificate(name string) *corev1.Secret {
	w.T.Helper()
	secret := &corev1.Secret{}
	w.Get(certificateOf(name), secret)
	return secret
}

// served is the serial number of the certificate that a node's sidecar shows; empty if the operator
// would not trust it.
func (w nodes) served(name string) string {
	w.T.Helper()
	pod := &corev1.Pod{}
	w.Get(name+"-0", pod)
	roots, err := w.Roots(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	dialer := &tls.Dialer{Config: &tls.Config{ServerName: render.ServerName(w.node(name)), RootCAs: roots}}
	conn, err := dialer.DialContext(w.T.Context(), "tcp4", pod.Status.PodIP+":7777")
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// untouched fails if a pod was replaced or one of its containers restarted.
func (w nodes) untouched(name string, pod types.UID) {
	w.T.Helper()
	now := &corev1.Pod{}
	w.Get(name+"-0", now)
	if now.UID != pod {
		w.T.Errorf("pod %s was replaced by %s", pod, now.UID)
	}
	for _, c := range append(now.Status.InitContainerStatuses, now.Status.ContainerStatuses...) {
		if c.RestartCount > 0 {
			w.T.Errorf("container %s was restarted", c.Name)
		}
	}
}

func (w nodes) podUID(name string) types.UID {
	w.T.Helper()
	pod := &corev1.Pod{}
	w.Get(name+"-0", pod)
	return pod.UID
}

func TestTLS_CertificateIsThereBeforeThePods(t *testing.T) {
	for name, tc := range map[string]struct {
		node  *v1alpha1.SeiNode
		maker string
	}{
		"statefulset": {fullNode("n"), "statefulsets"},
		"job":         {bootstrapped("n"), "jobs"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newOperatedWorld(t)
			w.Create(tc.node)
			envtest.WaitForList(t, w.Env, &corev1.PodList{}, func(l *corev1.PodList) bool { return len(l.Items) > 0 },
				client.InNamespace(w.NS), client.MatchingLabels{v1alpha1.LabelNode: "n"})
			writes := w.Recorder.All().Writes().In(w.NS)
			made, then := writes.Of("secrets").Where(notTheAuthority), writes.Of(tc.maker)
			if len(made) != 1 || len(then) == 0 || made[0].Time.After(then[0].Time) {
				t.Errorf("%v is not before %v", made, then)
			}
			secret := w.certificate("n")
			if !metav1.IsControlledBy(secret, w.node("n")) || secret.Type != corev1.SecretTypeTLS {
				t.Errorf("Secret of type %s, owned by %v", secret.Type, secret.OwnerReferences)
			}
		})
	}
}

// What is renewed is served without a restart, and the node notices nothing.
func TestTLS_CertificateNearItsEnd_IsRenewedUnderARunningPod(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	pod, before, serial := w.podUID("n"), w.certificate("n"), w.served("n")
	if serial == "" {
		t.Fatal("the sidecar serves no certificate that can be trusted")
	}
	world.Edit(w.World, certificateOf("n"), &corev1.Secret{}, func(s *corev1.Secret) {
		s.Annotations[render.AnnotationCertificateNotAfter] = time.Now().Add(10 * time.Minute).UTC().Format(time.RFC3339)
	})
	w.Eventually("another certificate to be served", func() bool { now := w.served("n"); return now != "" && now != serial })
	if after := w.certificate("n"); after.UID != before.UID {
		t.Error("the Secret was replaced, not renewed")
	}
	w.forceReconciles("n", 2)
	w.await("n", settled)
	w.untouched("n", pod)
	w.sound()
}

func TestTLS_DeletedSecret_IsMadeAgain(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	pod := w.podUID("n")
	gone := w.certificate("n")
	w.Delete(gone)
	envtest.WaitFor(t, w.Env, w.NS, gone.Name, func(s *corev1.Secret) bool { return s != nil && s.UID != gone.UID })
	w.forceReconciles("n", 1)
	w.untouched("n", pod)
	w.Stop()
	w.Delete(w.certificate("n"))
	replaced := w.losePod0("n") // which waits for what it mounts
	w.StartOperator()
	w.await("n", settled)
	if w.podUID("n") != replaced {
		t.Error("the pod that waited was replaced")
	}
	w.sound()
}

// losePod0 deletes the node's pod and gives the UID of the next one, which need not run.
func (w nodes) losePod0(name string) types.UID {
	w.T.Helper()
	pod := &corev1.Pod{}
	w.Get(name+"-0", pod)
	w.Delete(pod)
	return w.awaitPod(name+"-0", func(p *corev1.Pod) bool { return p.UID != pod.UID }).UID
}

// A Secret of somebody else is left alone, named, and no pod is made that would mount it.
func TestTLS_ForeignSecret_IsNamedAndKept(t *testing.T) {
	w := newOperatedWorld(t)
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: certificateOf("n")}, Data: map[string][]byte{"tls.crt": []byte("mine"), "tls.key": []byte("too")}}
	w.Create(foreign)
	w.Create(fullNode("n"))
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonNoCertificate)
	})
	wantMessage(t, n, v1alpha1.ConditionSpecValid, "Secret n-sidecar-tls does not belong to the node")
	if kept := w.certificate("n"); kept.ResourceVersion != foreign.ResourceVersion {
		t.Error("it was written to")
	}
	if len(w.Recorder.All().Writes().In(w.NS).Of("statefulsets")) > 0 {
		t.Error("there is a StatefulSet whose pod would mount it")
	}
	w.Delete(foreign)
	w.await("n", settled)
	w.sound()
}

// An upgrade of the operator restarts nothing: pods of the older one are called as before, and named.
func TestTLS_OperatorUpgrade_OlderPodsGoOnAndAreNamed(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.Stop()
	pod := w.withoutVariables("n", render.EnvTLSDir)
	w.Delete(w.certificate("n"))
	w.StartOperator()
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionTrue, v1alpha1.ReasonPlaintext)
	})
	wantMessage(t, n, v1alpha1.ConditionSidecarReady, "plain HTTP")
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, v1alpha1.ReasonPendingRestart)
	})
	w.forceReconciles("n", 2)
	w.untouched("n", pod.UID)
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRestart: "now"} })
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionTrue, v1alpha1.ReasonSidecarReady)
	})
	if w.served("n") == "" {
		t.Error("the new pod serves no certificate that can be trusted")
	}
	w.sound()
}

func TestTLS_PlaintextNotAllowed_OlderPodsAreNotCalled(t *testing.T) {
	w := newWorld(t)
	w.RefusePlaintext = true
	w.StartOperator()
	w.bringUp(fullNode("n"))
	w.Stop()
	pod := w.withoutVariables("n", render.EnvTLSDir)
	w.StartOperator()
	w.wantLeftAlone("n", pod, "--allow-plaintext-sidecars is off")
}

// A sidecar image that is too old, in a pod that gave it a certificate, is not called in the clear.
func TestTLS_OlderImageInANewPod_IsNamedAndNotCalled(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.Sidecars.SetLevel(w.Key("n"), api.LevelTLS-1)
	pod := w.losePod("n")
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionUnknown, v1alpha1.ReasonSidecarUnreachable) &&
			says(n, v1alpha1.ConditionSidecarReady, "does not speak TLS")
	})
	w.wantNotCalled("n", pod)
}

// An operator that starts finds all that it needs in its cache, but for its authority.
func TestTLS_OperatorRestart_WritesNothingAndReadsOneSecret(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("a"))
	w.bringUp(fullNode("b"))
	w.forceReconciles("a", 1)
	w.forceReconciles("b", 1)
	mark := w.Recorder.Mark()
	w.RestartOperator()
	for range 2 {
		w.forceReconciles("a", 1)
		w.forceReconciles("b", 1)
	}
	since := w.Recorder.Since(mark).In(w.NS)
	since.Writes().RequireNone(t, "writes after a restart")
	reads := since.Of("secrets").Verb("get")
	if len(reads) != 1 || reads[0].Name != certificates.SecretName {
		t.Errorf("reads of Secrets: %v", reads)
	}
}

// Whoever has reason to distrust the authority deletes it: all certificates are made again.
func TestTLS_AnotherAuthority_AllCertificatesAreIssuedAgain(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("a"))
	w.bringUp(fullNode("b"))
	a, b := w.podUID("a"), w.podUID("b")
	issuer := w.certificate("a").Annotations[render.AnnotationCertificateIssuer]
	w.Stop()
	w.Delete(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.NS, Name: certificates.SecretName}})
	w.StartOperator()
	for _, name := range []string{"a", "b"} {
		envtest.WaitFor(t, w.Env, w.NS, certificateOf(name), func(s *corev1.Secret) bool {
			return s != nil && s.Annotations[render.AnnotationCertificateIssuer] != issuer
		})
		w.Eventually("the new certificate to be served", func() bool { return w.served(name) != "" })
		w.await(name, settled)
	}
	w.untouched("a", a)
	w.untouched("b", b)
	w.sound()
}
