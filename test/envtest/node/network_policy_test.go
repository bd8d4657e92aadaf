package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/test/envtest"
)

func (w nodes) networkPolicy(name string) *networkingv1.NetworkPolicy {
	w.T.Helper()
	policy := &networkingv1.NetworkPolicy{}
	w.Get(name, policy)
	return policy
}

func (w nodes) requireNoNetworkPolicy(name string) {
	w.T.Helper()
	err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.NS, Name: name}, &networkingv1.NetworkPolicy{})
	if !apierrors.IsNotFound(err) {
		w.T.Errorf("there is a NetworkPolicy %s: %v", name, err)
	}
}

// requireFirst fails unless the first write of one resource was before that of another.
func (w nodes) requireFirst(first, then string) {
	w.T.Helper()
	a, b := w.Recorder.All().Writes().In(w.NS).Of(first), w.Recorder.All().Writes().In(w.NS).Of(then)
	if len(a) == 0 || len(b) == 0 || a[0].Time.After(b[0].Time) {
		w.T.Errorf("%v is not before %v", a, b)
	}
}

// The ports of a node are guarded before its first pod is there, also while it is bootstrapped.
func TestNetworkPolicy_IsThereBeforeThePods(t *testing.T) {
	for name, tc := range map[string]struct {
		node  *v1alpha1.SeiNode
		maker string
	}{
		"statefulset": {fullNode("n"), "statefulsets"},
		"job":         {bootstrapped("n"), "jobs"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newOperatedWorld(t)
			w.Create(tc.node)
			pod := envtest.WaitForList(t, w.Env, &corev1.PodList{}, func(l *corev1.PodList) bool { return len(l.Items) > 0 },
				client.InNamespace(w.NS), client.MatchingLabels{v1alpha1.LabelNode: "n"}).Items[0]
			policy := w.networkPolicy("n")
			selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
			if err != nil || !selector.Matches(labels.Set(pod.Labels)) {
				t.Errorf("the policy selects %s, the pod has %v: %v", selector, pod.Labels, err)
			}
			w.requireFirst("networkpolicies", tc.maker)
		})
	}
}

// What somebody did to a policy is put back, and nothing is written afterwards.
func TestNetworkPolicy_EditedByHand_IsPutBack(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	made := w.networkPolicy("n")
	same := func(p *networkingv1.NetworkPolicy) bool {
		return p != nil && samePolicySpec(made, p) && p.Labels[v1alpha1.LabelNode] == "n" && len(p.OwnerReferences) == 1
	}
	for name, change := range map[string]func(*networkingv1.NetworkPolicy){
		"opened to everybody": func(p *networkingv1.NetworkPolicy) { p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{}} },
		"closed":              func(p *networkingv1.NetworkPolicy) { p.Spec.Ingress = nil },
		"one port more": func(p *networkingv1.NetworkPolicy) {
			p.Spec.Ingress[0].Ports = append(p.Spec.Ingress[0].Ports, networkingv1.NetworkPolicyPort{Port: new(intstr.FromInt32(22))})
		},
		"selects no pod": func(p *networkingv1.NetworkPolicy) { p.Spec.PodSelector.MatchLabels["added"] = "by-hand" },
		"limits egress": func(p *networkingv1.NetworkPolicy) {
			p.Spec.PolicyTypes = []networkingv1.PolicyType{"Egress", "Ingress"}
		},
		"without label":   func(p *networkingv1.NetworkPolicy) { delete(p.Labels, v1alpha1.LabelNode) },
		"without anybody": func(p *networkingv1.NetworkPolicy) { p.OwnerReferences = nil },
	} {
		policy := w.networkPolicy("n")
		w.patch(policy, func() { change(policy) })
		edited := policy.ResourceVersion
		envtest.WaitFor(t, w.Env, w.NS, "n", func(p *networkingv1.NetworkPolicy) bool { return same(p) && p.ResourceVersion != edited })
		t.Log(name)
	}
	w.Delete(w.networkPolicy("n"))
	envtest.WaitFor(t, w.Env, w.NS, "n", same)

	// Rules for egress have no effect here, and whoever wrote them keeps them: nobody fights over them.
	policy := w.networkPolicy("n")
	w.patch(policy, func() { policy.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{}} })
	w.forceReconciles("n", 2)
	mark := w.Recorder.Mark()
	w.forceReconciles("n", 5)
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes at rest")
}

func samePolicySpec(a, b *networkingv1.NetworkPolicy) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	a.Spec.Egress, b.Spec.Egress = nil, nil
	return equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

// Where the platform wants no policies those that were made go, others stay, and no pod notices.
func TestNetworkPolicy_SwitchedOff_IsRemoved(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	foreign := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
	w.Create(foreign)
	pod := &corev1.Pod{}
	w.Get("n-0", pod)
	w.Platform.NetworkPolicies.Enabled = new(false)
	w.RestartOperator()
	envtest.WaitGone[networkingv1.NetworkPolicy](t, w.Env, w.NS, "n")
	w.bringUp(fullNode("m"))
	w.bringUp(fullNode("o"))
	w.requireNoNetworkPolicy("n")
	w.requireNoNetworkPolicy("o")
	if now := w.networkPolicy("m"); now.UID != foreign.UID || now.Generation != foreign.Generation {
		t.Errorf("somebody's policy became %+v", now)
	}
	w.Platform.NetworkPolicies.Enabled = nil
	w.RestartOperator()
	envtest.WaitFor(t, w.Env, w.NS, "n", func(p *networkingv1.NetworkPolicy) bool { return p != nil })
	w.await("n", settled)
	now := &corev1.Pod{}
	w.Get("n-0", now)
	if now.UID != pod.UID {
		t.Error("the pod was replaced")
	}
}

// A policy of the node's name that somebody else made is left as it is and reported; the node comes up.
func TestNetworkPolicy_SomebodyElsesUnderTheName_IsLeftAloneAndTold(t *testing.T) {
	w := newOperatedWorld(t)
	foreign := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	w.Create(foreign)
	w.bringUp(fullNode("n"))
	w.AwaitEvent("n", events.NetworkPolicyRefused)
	if now := w.networkPolicy("n"); now.Generation != foreign.Generation || len(now.OwnerReferences) != 0 {
		t.Errorf("it became %+v", now)
	}
	w.Delete(foreign)
	envtest.WaitFor(t, w.Env, w.NS, "n", func(p *networkingv1.NetworkPolicy) bool { return p != nil && len(p.OwnerReferences) == 1 })
}
