package walk

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// subject is who is led through a walk.
type subject struct {
	name string
	// make is what its user begins with.
	make func() client.Object
	// arrange makes what it needs; nil for nothing.
	arrange func(*world.World)
}

var subjects = []*subject{
	{name: "full", make: func() client.Object { return world.FullNode("full") }},
	{name: "validator", make: func() client.Object { return world.Validator("validator", "signing", "nodekey") }, arrange: arrangeKeys},
	{name: "fleet", make: func() client.Object { return newFleet() }},
}

// The keys of the validator, of one that runs beside it, and of nobody.
const (
	ownKey    = 'v'
	takenKey  = 'h'
	unusedKey = 'u'
)

// holder is a validator that runs with a key of its own.
const holder = "holder"

func arrangeKeys(w *world.World) {
	for name, seed := range map[string]byte{"signing": ownKey, "taken": takenKey} {
		file, _ := world.ConsensusKey(seed)
		w.Create(world.Secret(name, v1alpha1.SecretKeySigningKey, file))
	}
	w.Create(world.Secret("nodekey", v1alpha1.SecretKeyNodeKey, world.NodeKey('n')))
	w.Create(world.Secret("nodekey2", v1alpha1.SecretKeyNodeKey, world.NodeKey('m')))
	w.Create(world.Validator(holder, "taken", "nodekey2"))
	w.AwaitNode(holder, inOrder)
}

const mostReplicas = 3

func newFleet() *v1alpha1.SeiNodeDeployment {
	return &v1alpha1.SeiNodeDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: "fleet"},
		Spec: v1alpha1.SeiNodeDeploymentSpec{
			Replicas:       mostReplicas,
			UpdateStrategy: &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MinReadySeconds: new(int32), ProgressDeadlineSeconds: 600}},
			Template:       v1alpha1.SeiNodeTemplate{Spec: world.FullNode("").Spec},
		},
	}
}

func subjectNamed(name string) *subject {
	for _, s := range subjects {
		if s.name == name {
			return s
		}
	}
	return nil
}

func subjectNames() []string {
	names := make([]string, 0, len(subjects))
	for _, s := range subjects {
		names = append(names, s.name)
	}
	return names
}

// specOf is the spec of a node, or that of a fleet's template.
func specOf(obj client.Object) *v1alpha1.SeiNodeSpec {
	if f, ok := obj.(*v1alpha1.SeiNodeDeployment); ok {
		return &f.Spec.Template.Spec
	}
	return &obj.(*v1alpha1.SeiNode).Spec
}

// ask sets an annotation of a node, or of those of a fleet.
func ask(obj client.Object, key, value string) {
	switch o := obj.(type) {
	case *v1alpha1.SeiNodeDeployment:
		if o.Spec.Template.Metadata.Annotations == nil {
			o.Spec.Template.Metadata.Annotations = map[string]string{}
		}
		o.Spec.Template.Metadata.Annotations[key] = value
	case *v1alpha1.SeiNode:
		metav1.SetMetaDataAnnotation(&o.ObjectMeta, key, value)
	}
}

// nodesOf are the names of the nodes that a user has asked for.
func nodesOf(obj client.Object) []string {
	f, ok := obj.(*v1alpha1.SeiNodeDeployment)
	if !ok {
		return []string{obj.GetName()}
	}
	var names []string
	for i := range f.Spec.Replicas {
		names = append(names, fmt.Sprintf("%s-%d", f.Name, i))
	}
	return names
}

// inOrder is a node that runs its spec, is in sync, and has nothing left to do.
func inOrder(n *v1alpha1.SeiNode) bool {
	return n.Status.Phase == v1alpha1.NodeRunning && n.Status.Plan == nil && n.Status.ObservedGeneration == n.Generation &&
		conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync)
}
