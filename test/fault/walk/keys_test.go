package walk

import (
	"cmp"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// rememberNames remembers whose UIDs there are.
func (w *walk) rememberNames() {
	nodes := &v1alpha1.SeiNodeList{}
	w.list(nodes)
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range nodes.Items {
		w.names[nodes.Items[i].UID] = w.Key(nodes.Items[i].Name)
	}
}

// leases compares by name who may sign: a node that was deleted with --cascade=orphan and recreated is
// another object, and its pod continues.
func (w *walk) leases() sidecarsim.Leases {
	return sidecarsim.Leases{
		Owner: func(node string) string { return node },
		Holder: func(address string) string {
			lease := &coordinationv1.Lease{}
			if !w.read(task.ReservationName(address), lease) || lease.Spec.HolderIdentity == nil {
				return "nobody"
			}
			w.rememberNames()
			w.mu.Lock()
			defer w.mu.Unlock()
			return cmp.Or(w.names[types.UID(*lease.Spec.HolderIdentity)], *lease.Spec.HolderIdentity)
		},
	}
}

// releaseKeys deletes the reservations of a node.
func (w *walk) releaseKeys(node string) {
	leases := &coordinationv1.LeaseList{}
	w.list(leases)
	for i := range leases.Items {
		if l := &leases.Items[i]; l.Annotations[task.AnnotationHolder] == node {
			w.Delete(l)
		}
	}
}
