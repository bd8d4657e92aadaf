package fleet

import (
	"context"
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/test/envtest"
)

func (w fleets) awaitBudget(name string, condition func(*policyv1.PodDisruptionBudget) bool) *policyv1.PodDisruptionBudget {
	w.T.Helper()
	return envtest.WaitFor(w.T, w.Env, w.NS, name, func(b *policyv1.PodDisruptionBudget) bool { return b != nil && condition(b) })
}

// evict is what kubectl drain does.
func (w fleets) evict(pod string) error {
	return w.Client.SubResource("eviction").Create(w.T.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.NS, Name: pod}}, &policyv1.Eviction{})
}

func TestDisruptionBudget_EvictionsKeepToTheBudgetOfRollouts(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 3))
	w.awaitBudget("rpc", func(b *policyv1.PodDisruptionBudget) bool {
		return b.Spec.MinAvailable.IntValue() == 2 && b.Status.DisruptionsAllowed == 1 && b.Status.ObservedGeneration == b.Generation
	})
	if err := w.evict("rpc-1-0"); err != nil {
		t.Fatalf("evicting the first: %v", err)
	}
	if err := w.evict("rpc-2-0"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("evicting a second: %v", err)
	}
	w.await("rpc", settled)
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas = 1 })
	w.awaitBudget("rpc", func(b *policyv1.PodDisruptionBudget) bool { return b.Spec.MinAvailable.IntValue() == 0 })
	// What somebody edits or deletes is put back.
	budget := &policyv1.PodDisruptionBudget{}
	w.Get("rpc", budget)
	w.Delete(budget)
	envtest.WaitReplaced(t, w.Env, budget, func(*policyv1.PodDisruptionBudget) bool { return true })
}

// A cluster may forbid what the operator would like to make. The fleet goes on without.
func TestDisruptionBudget_RefusedByAdmission_IsAnEventAndTheFleetGoesOn(t *testing.T) {
	w := newWorld(t)
	rule := admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule:       admissionv1.Rule{APIGroups: []string{"policy"}, APIVersions: []string{"v1"}, Resources: []string{"poddisruptionbudgets"}},
	}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: w.NS}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		FailurePolicy:    new(admissionv1.Fail),
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: rule}}},
		Validations:      []admissionv1.Validation{{Expression: fmt.Sprintf("request.namespace != %q", w.NS), Message: "no budgets here"}},
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: w.NS}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: w.NS, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
	}}
	for _, obj := range []client.Object{policy, binding} {
		if err := w.Client.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Client.Delete(context.Background(), obj) })
	}
	probe := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: w.NS, GenerateName: "probe-"}}
	w.Eventually("the policy to be in force", func() bool { return w.Client.Create(t.Context(), probe.DeepCopy()) != nil })
	w.StartOperator()
	w.bringUp(rpc("rpc", 2))
	w.AwaitEvent("rpc", events.DisruptionBudgetRefused)
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image = "seid:b" })
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return settled(s) && s.Status.Nodes[1].CurrentImage == "seid:b"
	})
}
