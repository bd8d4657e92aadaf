package fault

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// ofFleets are the scenarios of a fleet of three full nodes.
var ofFleets = []*scenario{
	{
		name:    "rollout",
		arrange: bringUpFleet,
		act: func(r *run) {
			r.editFleet(func(f *v1alpha1.SeiNodeDeployment) { f.Spec.Template.Spec.Image = "seid:b" })
		},
		settle:  settleFleet,
		objects: []object{fleet("rpc"), node("rpc-0"), node("rpc-1"), node("rpc-2")},
	},
	{
		name:    "scale-down",
		arrange: bringUpFleet,
		act: func(r *run) {
			r.editFleet(func(f *v1alpha1.SeiNodeDeployment) { f.Spec.Replicas = 1 })
		},
		settle: func(r *run) {
			settleFleet(r)
			for _, name := range []string{"rpc-1", "rpc-2"} {
				envtest.WaitGone[v1alpha1.SeiNode](r.T, r.Env, r.NS, name)
				envtest.WaitGone[corev1.Pod](r.T, r.Env, r.NS, name+"-0")
			}
		},
		objects: []object{fleet("rpc"), node("rpc-0")},
	},
}

func bringUpFleet(r *run) {
	r.Create(&v1alpha1.SeiNodeDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: "rpc"},
		Spec: v1alpha1.SeiNodeDeploymentSpec{
			Replicas:       3,
			UpdateStrategy: &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MinReadySeconds: new(int32)}},
			Template:       v1alpha1.SeiNodeTemplate{Spec: world.FullNode("").Spec},
		},
	})
	settleFleet(r)
}

func (r *run) editFleet(change func(*v1alpha1.SeiNodeDeployment)) {
	r.T.Helper()
	world.Edit(r.World, "rpc", &v1alpha1.SeiNodeDeployment{}, change)
}

func settleFleet(r *run) { r.settleFleet("rpc") }

// settleFleet waits until all nodes of a fleet run its template and are settled themselves.
func (r *run) settleFleet(name string) {
	r.T.Helper()
	f := envtest.WaitFor(r.T, r.Env, r.NS, name, func(f *v1alpha1.SeiNodeDeployment) bool {
		return f != nil && f.Status.ObservedGeneration == f.Generation && f.Status.Phase == v1alpha1.DeploymentReady && f.Status.Rollout == nil &&
			f.Status.Replicas == f.Spec.Replicas && f.Status.ReadyReplicas == f.Spec.Replicas && f.Status.UpdatedReplicas == f.Spec.Replicas
	})
	for i := range f.Spec.Replicas {
		r.AwaitNode(fmt.Sprintf("%s-%d", name, i), func(n *v1alpha1.SeiNode) bool { return settled(n) && n.Spec.Image == f.Spec.Template.Spec.Image })
	}
}
