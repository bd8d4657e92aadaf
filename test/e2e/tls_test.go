package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/certificates"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// sidecarTLS is how the operator makes sure that it talks to a node's sidecar.
func (s *scenario) sidecarTLS(node string) *tls.Config {
	s.t.Helper()
	of, authority := &v1alpha1.SeiNode{}, &corev1.Secret{}
	s.mustGet(node, of)
	if err := s.Get(s.t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: certificates.SecretName}, authority); err != nil {
		s.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority.Data[corev1.ServiceAccountRootCAKey]) {
		s.t.Fatal("the Secret of the authority has no certificates")
	}
	return &tls.Config{ServerName: render.ServerName(of), RootCAs: roots, MinVersion: tls.VersionTLS13}
}

// tryPlaintext asks a sidecar in the clear: what is public is told, the rest is not, with the right token neither.
func (s *scenario) tryPlaintext() {
	const node = "full"
	token := s.sidecarToken(s.sidecarAudience(node))
	for path, want := range map[string]int{
		api.PathHealth: http.StatusOK, api.PathLive: http.StatusOK, api.PathMetrics: http.StatusOK,
		api.PathNode: http.StatusForbidden, "/v0/tasks": http.StatusForbidden, "/v0/version": http.StatusForbidden,
	} {
		if got := s.answerOf("http", token, node, http.MethodGet, path, nil); got != want {
			s.t.Errorf("GET %s of %s in the clear: %d, want %d", path, node, got, want)
		}
	}
}

// servedCertificate is the serial number of the certificate that a node's sidecar proves itself with.
func (s *scenario) servedCertificate(node string) (string, error) {
	pod := s.pod(node)
	raw, err := dialInPod(pod, net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(api.DefaultPort)))
	if err != nil {
		return "", err
	}
	defer func() { _ = raw.Close() }()
	conn := tls.Client(raw, s.sidecarTLS(node))
	if err := conn.HandshakeContext(s.t.Context()); err != nil {
		return "", err
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
}

// renewCertificate has the operator renew a node's certificate, and waits until the kubelet has handed it over and the sidecar
// serves it. The pod does not notice.
func (s *scenario) renewCertificate(node string) {
	s.t.Helper()
	before := s.pod(node)
	var serial string
	await(s.t, inSyncTimeout, "the certificate that "+node+" serves", func(context.Context) (bool, string, error) {
		var err error
		serial, err = s.servedCertificate(node)
		return serial != "", serial, err
	})
	secret := &corev1.Secret{}
	s.mustGet(node+"-sidecar-tls", secret)
	edited := secret.DeepCopy()
	edited.Annotations[render.AnnotationCertificateNotAfter] = time.Now().Add(10 * time.Minute).UTC().Format(time.RFC3339)
	if err := s.Patch(s.t.Context(), edited, client.MergeFrom(secret)); err != nil {
		s.t.Fatal(err)
	}
	await(s.t, 2*inSyncTimeout, "the sidecar of "+node+" to serve its new certificate", func(context.Context) (bool, string, error) {
		now, err := s.servedCertificate(node)
		return now != "" && now != serial, now, err
	})
	s.awaitInSync(node)
	after := s.pod(node)
	if after.UID != before.UID || restarts(after, "seid") != 0 || restarts(after, "sidecar") != 0 {
		s.t.Errorf("the pod %s was replaced or restarted; it is %s now", before.UID, after.UID)
	}
}

// The operator and the sidecars of real pods talk over TLS, with certificates that kubelets mount, and hand over when they are
// renewed.
func TestSidecars_OverTLS_ProveWhoseTheyAre(t *testing.T) {
	s := found(t, "tls")
	s.create(s.validator("v-0"))
	s.create(s.fullNode("full"))
	s.awaitInSync("v-0")
	s.awaitInSync("full")
	s.tryPlaintext()
	s.tryTokensOfOthers()
	s.renewCertificate("full")
	gone := &corev1.Secret{}
	s.mustGet("full-sidecar-tls", gone)
	if err := s.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	await(t, inSyncTimeout, "the certificate that was deleted to be there again", func(context.Context) (bool, string, error) {
		now := &corev1.Secret{}
		err := s.get("full-sidecar-tls", now)
		return err == nil && now.UID != gone.UID, string(now.UID), err
	})
	s.awaitInSync("full")
}
