package observability

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// Kubernetes deletes what is in a namespace in an order of its own. Whatever the operator would make again meanwhile is
// refused, and so are its events; that is nothing to report to anybody.
func TestNamespaceDeleted_IsNoErrorOfTheOperator(t *testing.T) {
	w := world.New(t)
	w.StartOperator()
	full := v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}}
	w.Create(&v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "single"}, Spec: full})
	w.Create(&v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}, Spec: v1alpha1.SeiNodeDeploymentSpec{
		Replicas: 2, Template: v1alpha1.SeiNodeTemplate{Spec: full},
	}})
	awaitNode(w, "single", inSync)
	awaitFleet(w, runs("seid:a"))
	failed, told := reconcileErrors(t), len(logged())

	w.Delete(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.NS}})
	envtest.WaitGone[v1alpha1.SeiNodeDeployment](t, w.Env, w.NS, "rpc")
	envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "single")
	w.Eventually("the operator to forget them", func() bool { return len(left(w)) == 0 })
	w.Eventually("an event to be refused", func() bool {
		return strings.Contains(logged()[told:], "an event was not stored: its namespace is being deleted")
	})

	since := logged()[told:]
	for line := range strings.Lines(since) {
		var entry struct{ Error any }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Error != nil {
			t.Errorf("the log has %s", line)
		}
	}
	if got := reconcileErrors(t); got != failed {
		t.Errorf("%v reconciles ended with an error", got-failed)
	}
	t.Logf("%d passes were refused", strings.Count(since, "waiting for the object's own deletion"))
}

// reconcileErrors is how many reconciles ended with an error so far.
func reconcileErrors(t *testing.T) (sum float64) {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "controller_runtime_reconcile_errors_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue()
		}
	}
	return sum
}
