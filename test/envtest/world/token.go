package world

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// account is the name of the operator's service account, as in the manifests.
const account = "sei-operator"

// Token is a token of the operator's account for an audience.
func (w *World) Token(audience string) string {
	w.T.Helper()
	of := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.AccountNamespace, Name: account}}
	if err := w.Client.Create(w.T.Context(), of); err != nil && !apierrors.IsAlreadyExists(err) {
		w.T.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}}}
	if err := w.Client.SubResource("token").Create(w.T.Context(), of, request); err != nil {
		w.T.Fatal(err)
	}
	return request.Status.Token
}

// Tokens are the operator's tokens, for tests that call sidecars themselves.
type Tokens struct{ World *World }

// Token implements client.TokenSource.
func (t Tokens) Token(_ context.Context, audience string) (string, error) {
	t.World.T.Helper()
	return t.World.Token(audience), nil
}

// Refused implements client.TokenSource.
func (Tokens) Refused(string, string) {}
