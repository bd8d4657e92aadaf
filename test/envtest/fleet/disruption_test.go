package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/test/envtest"
)

func (w fleets) awaitBudget(name string, condition func(*policyv1.PodDisruptionBudget) bool) *policyv1.PodDisruptionBudget {
	w.T.Helper()
	return envtest.WaitFor(w.T, w.Env, w.NS, name, func(b *policyv1.PodDisruptionBudget) bool { return b != nil && condition(b) })
}

// awaitNote waits for an event about an object whose note holds all of these words.
func (w fleets) awaitNote(name string, reason events.Reason, words ...string) {
	w.T.Helper()
	envtest.WaitForList(w.T, w.Env, &eventsv1.EventList{}, func(list *eventsv1.EventList) bool {
		return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool {
			missing := func(word string) bool { return !strings.Contains(e.Note, word) }
			return e.Reason == string(reason) && e.Regarding.Name == name && !slices.ContainsFunc(words, missing)
		})
	}, client.InNamespace(w.NS))
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
	before := budget.DeepCopy()
	budget.Spec.MinAvailable = new(intstr.FromInt32(1))
	if err := w.Client.Patch(t.Context(), budget, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	w.awaitBudget("rpc", func(b *policyv1.PodDisruptionBudget) bool { return b.Spec.MinAvailable.IntValue() == 0 })
	w.Delete(budget)
	envtest.WaitReplaced(t, w.Env, budget, func(*policyv1.PodDisruptionBudget) bool { return true })
}

// forbid has the API server refuse what does not fulfil an expression, in the world's namespace. It
// returns when an object that does not is refused.
func (w fleets) forbid(group, resource, expression, message string, probe client.Object) {
	w.T.Helper()
	rule := admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}},
	}
	expression = fmt.Sprintf("request.namespace != %q || (%s)", w.NS, expression)
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: w.NS}, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		FailurePolicy:    new(admissionregistrationv1.Fail),
		MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: rule}}},
		Validations:      []admissionregistrationv1.Validation{{Expression: expression, Message: message}},
	}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: w.NS}, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: w.NS, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}}
	for _, obj := range []client.Object{policy, binding} {
		if err := w.Client.Create(w.T.Context(), obj); err != nil {
			w.T.Fatal(err)
		}
		w.T.Cleanup(func() { _ = w.Client.Delete(context.Background(), obj) })
	}
	w.Eventually("the policy to be in force", func() bool {
		err := w.Client.Create(w.T.Context(), probe.DeepCopyObject().(client.Object))
		return err != nil && strings.Contains(err.Error(), message)
	})
}

// A cluster may forbid what the operator would like to make. The fleet continues without.
func TestDisruptionBudget_RefusedByAdmission_IsAnEventAndTheFleetGoesOn(t *testing.T) {
	w := newWorld(t)
	w.forbid("policy", "poddisruptionbudgets", "false", "no budgets here",
		&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: w.NS, GenerateName: "probe-"}})
	w.StartOperator()
	w.bringUp(rpc("rpc", 2))
	w.awaitNote("rpc", events.DisruptionBudgetRefused, "the API server rejects PodDisruptionBudget rpc, so drains are not limited by "+
		"spec.updateStrategy.inPlace.maxUnavailable: change the policy that rejects it: ", "no budgets here")
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image = "seid:b" })
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return settled(s) && s.Status.Nodes[1].CurrentImage == "seid:b"
	})
}

// A pod that is not in sync serves nobody, and does not keep a machine from being drained.
func TestDisruptionBudget_PodThatIsNotReady_CanBeEvicted(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 3))
	for _, name := range []string{"rpc-1", "rpc-2"} {
		w.Sidecars.SetInSync(w.Key(name), false)
	}
	w.awaitBudget("rpc", func(b *policyv1.PodDisruptionBudget) bool { return b.Status.CurrentHealthy == 1 })
	for _, pod := range []string{"rpc-1-0", "rpc-2-0"} {
		if err := w.evict(pod); err != nil {
			t.Errorf("evicting %s: %v", pod, err)
		}
	}
	if err := w.evict("rpc-0-0"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("evicting the only one in sync: %v", err)
	}
}

// A budget of somebody else under the fleet's name is left alone and named.
func TestDisruptionBudget_OfSomebodyElse_IsNamedAndLeftAlone(t *testing.T) {
	w := newWorld(t)
	theirs := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: new(intstr.FromInt32(2)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "theirs"}},
	}}
	w.Create(theirs)
	w.StartOperator()
	w.bringUp(rpc("rpc", 1))
	w.awaitNote("rpc", events.DisruptionBudgetRefused, "PodDisruptionBudget rpc already exists and belongs to no fleet: delete it, or let this fleet adopt it with the label")
	now := &policyv1.PodDisruptionBudget{}
	if w.Get("rpc", now); now.Spec.MaxUnavailable.IntValue() != 2 || len(now.OwnerReferences) > 0 {
		t.Errorf("it was touched: %+v", now)
	}
}
