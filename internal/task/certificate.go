package task

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/certificates"
	"github.com/sei-operator/sei-operator/internal/render"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// CertificateAuthority issues the certificates of sidecars.
type CertificateAuthority interface {
	Issue(ctx context.Context, name string) (*certificates.Issued, error)
	// Trusts reports whether certificates of an issuer are trusted.
	Trusts(ctx context.Context, issuer string) (bool, error)
}

// refusedFor is how long a certificate that the operator made may be refused by the operator itself: a
// kubelet needs a minute or two to hand a new one over. One that is refused for longer was edited.
const refusedFor = 10 * time.Minute

// SecretMetadata is a Secret without its content, as it is watched.
func SecretMetadata(of metav1.ObjectMeta) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{ObjectMeta: of}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return m
}

// SyncCertificate makes the certificate of the node's sidecar, and another one when it is due. Why
// there is none although there should be is in env.Facts: no pod is made that would wait for it.
func SyncCertificate(ctx context.Context, env *Env) error {
	live := env.Observed.Certificate
	switch {
	case live == nil && !env.Render.Platform.Sidecar.ServesTLS():
		return nil
	case live == nil:
		return env.uncertified(createCertificate(ctx, env))
	case live.DeletionTimestamp != nil:
		return nil // made again when it is gone, which wakes the node up
	case !mayTake(env.Node, live):
		env.Facts.CertificateProblem = fmt.Sprintf(
			"Secret %s does not belong to the node, so its sidecar has no certificate: delete or rename it", live.Name)
		return nil
	}
	if CertificateDue(env.Node, live, env.LookError, env.Clock.Now()) == "" {
		trusted, err := env.Certificates.Trusts(ctx, live.Annotations[render.AnnotationCertificateIssuer])
		if trusted || err != nil {
			return err
		}
	}
	return renewCertificate(ctx, env, live)
}

// CertificateDue says why a node needs another certificate than the one whose Secret is there; empty if
// it does not. looked is how the sidecar was last asked without success.
func CertificateDue(node *v1alpha1.SeiNode, live *metav1.PartialObjectMetadata, looked error, now time.Time) string {
	at := func(annotation string) time.Time {
		t, err := time.Parse(time.RFC3339, live.Annotations[annotation])
		if err != nil {
			return time.Time{}
		}
		return t
	}
	from, until := at(render.AnnotationCertificateNotBefore), at(render.AnnotationCertificateNotAfter)
	switch {
	case metav1.GetControllerOf(live) == nil:
		return "it has no owner reference"
	case live.Annotations[render.AnnotationCertificateName] != render.ServerName(node):
		return "it is for another node"
	case from.IsZero() || until.IsZero() || !now.Before(certificates.RenewAt(from, until)):
		return "it expires"
	case errors.Is(looked, sidecar.ErrCertificate) && now.Sub(certificates.IssuedAt(from)) > refusedFor:
		return "it is not accepted"
	default:
		return ""
	}
}

// uncertified notes why a node has no certificate. What the API server refuses it will refuse again,
// and is no reason to leave the rest of the node alone.
func (env *Env) uncertified(err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsAlreadyExists(err):
		env.Facts.CertificateProblem = "waiting for Secret " + render.CertificateName(env.Node) + " to be seen"
		return nil
	}
	env.Facts.CertificateProblem = fmt.Sprintf("the sidecar has no certificate: %v", err)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return err
	}
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
		return nil
	}
	return err
}

func createCertificate(ctx context.Context, env *Env) error {
	issued, err := env.Certificates.Issue(ctx, render.ServerName(env.Node))
	if err != nil {
		return err
	}
	secret := render.Certificate(env.Node, render.Issued(*issued))
	if err := env.Client.Create(ctx, secret, client.FieldOwner(v1alpha1.FieldOwnerSeiNode)); err != nil {
		return fmt.Errorf("creating Secret %s: %w", secret.Name, err)
	}
	env.wroteCertificate(secret)
	return nil
}

// renewCertificate replaces exactly the version that was seen. Who loses a race looks again.
func renewCertificate(ctx context.Context, env *Env, live *metav1.PartialObjectMetadata) error {
	issued, err := env.Certificates.Issue(ctx, render.ServerName(env.Node))
	if err != nil {
		return err
	}
	before := &corev1.Secret{ObjectMeta: live.ObjectMeta}
	secret := render.Certificate(env.Node, render.Issued(*issued))
	secret.UID, secret.ResourceVersion = live.UID, live.ResourceVersion
	err = env.Client.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(v1alpha1.FieldOwnerSeiNode))
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("renewing the certificate in Secret %s: %w", live.Name, err)
	}
	env.wroteCertificate(secret)
	return nil
}

func (env *Env) wroteCertificate(secret *corev1.Secret) {
	env.Observed.Certificate = SecretMetadata(secret.ObjectMeta)
	env.Wrote(env.Observed.Certificate)
}
