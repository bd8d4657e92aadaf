package world

import (
	"context"
	"crypto/x509"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/internal/certificates"
)

// Roots are the authorities that the operator trusts, for tests that call sidecars themselves.
func (w *World) Roots(ctx context.Context) (*x509.CertPool, error) {
	secret := &corev1.Secret{}
	if err := w.Client.Get(ctx, client.ObjectKey{Namespace: w.NS, Name: certificates.SecretName}, secret); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(secret.Data[corev1.ServiceAccountRootCAKey]) {
		return nil, errors.New("the Secret of the authority has no certificates")
	}
	return roots, nil
}

// WithoutTLS has the operator make pods whose sidecars speak plain HTTP, as older sidecars do.
func (w *World) WithoutTLS() { w.Platform.Sidecar.TLS = new(false) }
