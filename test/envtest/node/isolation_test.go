package node

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

const (
	variablePassphrase     = "SEI_KEYRING_PASSPHRASE"
	variablePassphraseFile = "SEI_KEYRING_PASSPHRASE_FILE"
)

// sharing is the pod of a validator as operators made it whose sidecars saw seid's process and had the passphrase in their
// environment.
func sharing(spec *corev1ac.PodSpecApplyConfiguration) {
	spec.WithShareProcessNamespace(true)
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if *c.Name != render.ContainerSidecar {
			continue
		}
		c.Env = slices.DeleteFunc(c.Env, func(v corev1ac.EnvVarApplyConfiguration) bool { return *v.Name == variablePassphraseFile })
		c.WithEnv(corev1ac.EnvVar().WithName(variablePassphrase).WithValueFrom(corev1ac.EnvVarSource().
			WithSecretKeyRef(corev1ac.SecretKeySelector().WithName("passphrase").WithKey("p"))))
	}
}

func shares(spec corev1.PodSpec) bool {
	return spec.ShareProcessNamespace != nil && *spec.ShareProcessNamespace
}

// variablesOf are the names of the variables of a pod's sidecar.
func variablesOf(spec corev1.PodSpec) []string {
	var names []string
	for _, c := range spec.InitContainers {
		for _, v := range c.Env {
			if c.Name == render.ContainerSidecar {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// A new operator isolates the containers of the pods that it makes. It restarts none for it, works with those
// that share their processes, and makes them again as they were when they are lost.
func TestOperatorUpgrade_PodThatSharesItsProcesses_GoesOnUntilItIsReplaced(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(secret("passphrase", "p", []byte("secret")))
	keyring := secret("keyring", "node_admin.info", []byte("x"))
	keyring.Data["abcdef.address"], keyring.Data["keyhash"] = []byte("y"), []byte("z")
	w.Create(keyring)
	n := fullNode("v")
	n.Spec.FullNode = nil
	n.Spec.Validator = &v1alpha1.ValidatorSpec{OperatorKeyring: &v1alpha1.OperatorKeyringSource{Secret: &v1alpha1.OperatorKeyringSecret{
		SecretName: "keyring", PassphraseSecretRef: v1alpha1.SecretKeyRef{SecretName: "passphrase", Key: "p"},
	}}}
	w.bringUp(n)
	w.Stop()
	pod := w.asOlderTemplate("v", sharing)
	if !shares(pod.Spec) {
		t.Fatal("the older pod shares no processes")
	}
	w.StartOperator()
	w.await("v", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, v1alpha1.ReasonPendingRestart)
	})
	w.restartsSeidAlone("v", "9000")
	w.forceReconciles("v", 3)
	same := &corev1.Pod{}
	if w.Get("v-0", same); same.UID != pod.UID {
		t.Fatalf("the upgrade replaced pod %s by %s", pod.UID, same.UID)
	}
	w.losePod("v")
	w.await("v", settled)
	lost := &corev1.Pod{}
	if w.Get("v-0", lost); lost.UID == pod.UID || !shares(lost.Spec) {
		t.Errorf("the lost pod came back as another one: %+v", lost.Spec.ShareProcessNamespace)
	}

	w.edit("v", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRestart: "now"} })
	w.await("v", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, v1alpha1.ReasonUpdateComplete)
	})
	isolated := &corev1.Pod{}
	w.Get("v-0", isolated)
	has := variablesOf(isolated.Spec)
	if shares(isolated.Spec) || slices.Contains(has, variablePassphrase) || !slices.Contains(has, variablePassphraseFile) {
		t.Errorf("the new pod shares its processes (%t), or has the passphrase in its environment: %v", shares(isolated.Spec), has)
	}
	w.restartsSeidAlone("v", "9001")
	w.sound()
}

// restartsSeidAlone changes an override that needs a restart of seid and expects the pod to stay.
func (w nodes) restartsSeidAlone(name, value string) {
	w.T.Helper()
	before, after := &corev1.Pod{}, &corev1.Pod{}
	w.Get(name+"-0", before)
	restarts := count(w.Sidecars.Submissions(w.Key(name)), api.RestartSeid)
	w.edit(name, func(n *v1alpha1.SeiNode) { n.Spec.Overrides = map[string]string{"mempool.cache_size": value} })
	w.await(name, settled)
	if w.Get(name+"-0", after); after.UID != before.UID {
		w.T.Errorf("pod %s became %s for a restart of seid", before.UID, after.UID)
	}
	if now := count(w.Sidecars.Submissions(w.Key(name)), api.RestartSeid); now != restarts+1 {
		w.T.Errorf("seid was restarted %d times, want once more than %d", now, restarts)
	}
}
