package operation

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// lateLists shows lists as they once were; reads of single objects are current.
type lateLists struct {
	client.Client
	list *v1alpha1.SeiNodeTaskList
}

func (l lateLists) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	l.list.DeepCopyInto(into.(*v1alpha1.SeiNodeTaskList))
	return nil
}

// A task does not begin while another one that changes the node runs, although the cache does not
// show that it does and the process that let it begin is gone.
func TestQueue_NewOperatorWithALateCache_DoesNotBeginASecondTask(t *testing.T) {
	for _, sees := range []bool{true, false} {
		r := newRig(t, specs["await"])
		r.sidecar.works = true
		other := r.stored(t)
		other.Name, other.UID, other.ResourceVersion = "a", types.UID("6f0d0a52-0000-4000-8000-000000000002"), "" // it would come first
		if err := r.Create(t.Context(), other.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		late := &v1alpha1.SeiNodeTaskList{}
		if err := r.List(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		if !sees {
			late.Items = nil
		}
		if err := r.Delete(t.Context(), other.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		r.reconcile(t)
		if err := r.Create(t.Context(), other.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		operator := r.operator(t)
		operator.Client = lateLists{operator.Client, late}
		for range 3 {
			if _, err := operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "a"}}); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.sidecar.known) != 1 {
			t.Errorf("the late cache knows the running task: %t; the sidecar works on %d tasks at once", sees, len(r.sidecar.known))
		}
	}
}
