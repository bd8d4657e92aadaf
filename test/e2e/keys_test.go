package e2e

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// The same consensus key in a second SeiNode would sign twice and lose the stake. It is refused, even from a copy of the
// Secret in another name, and no process ever gets hold of it.
func TestValidator_KeyOfAnotherNode_IsRefusedAndNeverSigns(t *testing.T) {
	s := found(t, "keys")
	s.create(s.validator("first"))
	s.awaitInSync("first")

	for _, secret := range s.chain.keySecrets() {
		secret.Name += "-copy"
		s.create(secret)
	}
	second := s.validator("second")
	second.Spec.Validator.SigningKey.Secret.SecretName = "signing-key-copy"
	second.Spec.Validator.NodeKey.Secret.SecretName = "node-key-copy"
	s.create(second)
	await(t, inSyncTimeout, "the second validator to be refused", func(context.Context) (bool, string, error) {
		node := &v1alpha1.SeiNode{}
		err := s.get("second", node)
		c := conditions.Get(node.Status.Conditions, v1alpha1.ConditionSigningKeyReady)
		refused := c != nil && c.Status == metav1.ConditionFalse && c.Reason == v1alpha1.ReasonKeyInUse
		if refused && !strings.Contains(c.Message, "first") {
			t.Errorf("the message does not name the node that has the key: %s", c.Message)
		}
		return refused, describe(node), err
	})

	s.awaitBlocks("first", 5)
	pods := &corev1.PodList{}
	if err := s.List(t.Context(), pods, client.InNamespace(s.namespace)); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 1 || pods.Items[0].Name != "first-0" {
		t.Errorf("%d pods run, want the first validator's alone", len(pods.Items))
	}

	t.Log("the first validator is deleted; the second may have the key")
	if err := s.Delete(t.Context(), &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "first", Namespace: s.namespace}}); err != nil {
		t.Fatal(err)
	}
	s.awaitNoPod("first")
	s.edit("second", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"} })
	s.awaitInSync("second")
}
