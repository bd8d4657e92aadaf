package certificates

import (
	"context"
	"crypto/x509"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SecretName is the name of the authority's Secret, in the operator's namespace.
const SecretName = "sei-operator-sidecar-ca"

const (
	// readEvery is how often the Secret is read again, to notice changes by another replica.
	readEvery = time.Hour
	// readAgain is how soon it is read again when an issuer is unknown, or after a failure.
	readAgain = 10 * time.Second
	// readTimeout bounds a read while there is no authority, and rereadTimeout a read while there is one: all
	// callers wait for it, and a caller that dials a sidecar has two seconds for everything.
	readTimeout   = 5 * time.Second
	rereadTimeout = time.Second
)

// Authority issues the certificates of sidecars and says which ones are trusted. It is stored in a Secret, which
// the first replica creates. It is replaced in time, and both authorities are trusted as long as there may be
// certificates issued by the older one.
type Authority struct {
	// Secrets reads Secrets from the API server, not from a cache.
	Secrets   client.Client
	Namespace string
	Clock     clock.PassiveClock
	// Log gets the reason why the Secret could not be read or replaced: callers of sidecars have no place for it.
	Log logr.Logger

	mu     sync.Mutex
	held   *bundle
	readAt time.Time
	// failedAt is when reading the Secret last failed, and err is the error.
	failedAt time.Time
	err      error
}

// Roots returns the trusted authorities.
func (a *Authority) Roots(ctx context.Context) (*x509.CertPool, error) {
	held, err := a.current(ctx, readEvery)
	if err != nil {
		return nil, err
	}
	return held.roots, nil
}

// Trusts reports whether certificates of an issuer are trusted. An unknown issuer may belong to another replica, so
// the Secret is read again first.
func (a *Authority) Trusts(ctx context.Context, issuer string) (bool, error) {
	held, err := a.current(ctx, readEvery)
	if err != nil || held.trusts(issuer) {
		return err == nil, err
	}
	held, err = a.current(ctx, readAgain)
	return err == nil && held.trusts(issuer), err
}

// Issue issues a certificate for a server name.
func (a *Authority) Issue(ctx context.Context, name string) (*Issued, error) {
	held, err := a.current(ctx, readEvery)
	if err != nil {
		return nil, err
	}
	return held.issuing.issue(name, a.Clock.Now())
}

// current returns the authority as it was read at most maxAge ago. While the API server is unavailable, it returns
// the last known one.
func (a *Authority) current(ctx context.Context, maxAge time.Duration) (*bundle, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.Clock.Now()
	fresh := a.held != nil && now.Sub(a.readAt) < maxAge && !a.held.due(now)
	if !fresh && (a.err == nil || now.Sub(a.failedAt) >= readAgain) {
		a.read(ctx, now)
	}
	if a.held == nil {
		return nil, a.err
	}
	return a.held, nil
}

// read is not cancelled with the caller's context: a caller that gives up says nothing about the API server, and
// the next one would have to wait just as long.
func (a *Authority) read(ctx context.Context, now time.Time) {
	timeout := readTimeout
	if a.held != nil {
		timeout = rereadTimeout
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	held, err := a.load(bounded, now)
	if held != nil {
		a.held, a.readAt = held, now
	}
	if a.err = err; err != nil {
		a.failedAt, a.err = now, fmt.Errorf("reading the authority of sidecar certificates: %w", err)
		a.Log.Error(err, "the authority of sidecar certificates could not be read or replaced", "held", a.held != nil)
	}
}

// load reads the Secret. It creates the Secret if there is none, and replaces the authority when it is due. A
// replica that loses a race uses what the other one wrote. If the next authority cannot be written, load returns
// the one that is due together with the error: it stays valid for months.
func (a *Authority) load(ctx context.Context, now time.Time) (*bundle, error) {
	secret := &corev1.Secret{}
	err := a.Secrets.Get(ctx, client.ObjectKey{Namespace: a.Namespace, Name: SecretName}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return a.create(ctx, now)
	case err != nil:
		return nil, err
	}
	held, err := parseBundle(secret.Data)
	if err != nil {
		return nil, fmt.Errorf("secret %s/%s: %w; delete it to have another one made", a.Namespace, SecretName, err)
	}
	if !held.due(now) {
		return held, nil
	}
	next, err := a.rotate(ctx, now, secret, held)
	if err != nil && now.Before(held.issuing.certificate.NotAfter) {
		return held, fmt.Errorf("replacing it in Secret %s/%s: %w", a.Namespace, SecretName, err)
	}
	return next, err
}

func (a *Authority) create(ctx context.Context, now time.Time) (*bundle, error) {
	made, err := newBundle(now, nil)
	if err != nil {
		return nil, err
	}
	data, err := made.data()
	if err != nil {
		return nil, err
	}
	err = a.Secrets.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: SecretName, Labels: map[string]string{"app.kubernetes.io/part-of": "sei-operator"}},
		Type:       corev1.SecretTypeTLS, Data: data,
	})
	if apierrors.IsAlreadyExists(err) {
		return a.load(ctx, now)
	}
	if err != nil {
		return nil, err
	}
	return made, nil
}

func (a *Authority) rotate(ctx context.Context, now time.Time, secret *corev1.Secret, held *bundle) (*bundle, error) {
	next, err := newBundle(now, held.trusted)
	if err != nil {
		return nil, err
	}
	before := secret.DeepCopy()
	if secret.Data, err = next.data(); err != nil {
		return nil, err
	}
	err = a.Secrets.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return a.load(ctx, now)
	}
	if err != nil {
		return nil, err
	}
	return next, nil
}
