package task

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// A Secret that is missing or wrong is waited for: a change of it wakes the node up.
// Its content is read live, looked at for its shape, and never kept or logged.

// readSecret reads a Secret of the node's namespace.
func readSecret(ctx context.Context, env *Env, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := env.Live.Get(ctx, client.ObjectKey{Namespace: env.Node.Namespace, Name: name}, secret)
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	if secret.DeletionTimestamp != nil {
		return nil, apierrors.NewNotFound(corev1.Resource("secrets"), name)
	}
	return secret, nil
}

// keyReasons are the reasons a key's condition can have.
type keyReasons struct{ notReady, invalid string }

// checkSecret waits for a Secret and then checks it.
func checkSecret(ctx context.Context, env *Env, name string, reasons keyReasons, check func(map[string][]byte) error) plan.Outcome {
	secret, err := readSecret(ctx, env, name)
	if apierrors.IsNotFound(err) {
		return plan.Wait(reasons.notReady, fmt.Sprintf("Secret %s does not exist in namespace %s: create it", name, env.Node.Namespace), someTime)
	}
	if err != nil {
		return APIOutcome("checking the key", err)
	}
	if err := check(secret.Data); err != nil {
		return plan.Wait(reasons.invalid, fmt.Sprintf("Secret %s: %v", name, err), someTime)
	}
	return plan.Done("")
}

// required is the data key of a Secret, which must be there and not empty.
func required(data map[string][]byte, key string) ([]byte, error) {
	value, ok := data[key]
	if !ok {
		return nil, fmt.Errorf("data key %q is missing", key)
	}
	if len(value) == 0 {
		return nil, fmt.Errorf("data key %q is empty", key)
	}
	return value, nil
}

var (
	signingKeyReasons = keyReasons{v1alpha1.ReasonSigningKeyNotReady, v1alpha1.ReasonSigningKeyInvalid}
	nodeKeyReasons    = keyReasons{v1alpha1.ReasonNodeKeyNotReady, v1alpha1.ReasonNodeKeyInvalid}
	keyringReasons    = keyReasons{v1alpha1.ReasonOperatorKeyringNotReady, v1alpha1.ReasonOperatorKeyringInvalid}
)
