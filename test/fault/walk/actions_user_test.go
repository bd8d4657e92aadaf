package walk

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// action is something that can happen.
type action struct {
	name string
	// variants is how many ways there are.
	variants int
	do       func(w *walk, variant int)
	// of are the subjects it happens to; empty for all.
	of []string
	// often is how many more times it is drawn than others.
	often int
	// calm: no user has asked for it, so that nothing may restart because of it (S6).
	calm bool
	// loses: a process is lost that has to come back (S3).
	loses bool
}

func (a *action) fits(subject string) bool { return len(a.of) == 0 || slices.Contains(a.of, subject) }

var alphabet = slices.Concat(userActions, worldActions, operatorActions, strangerActions)

func actionNamed(name string) *action {
	for _, a := range alphabet {
		if a.name == name {
			return a
		}
	}
	return nil
}

// The images that a user asks for. The last one cannot be pulled.
var images = []string{"seid:a", "seid:b", "seid:c", "seid:bad"}

// The overrides that a user asks for: none, some that are fine, one that needs a restart, one that no
// seid takes, one that seid:b does not take, a typing error, and one that admission refuses.
var overrides = []map[string]string{
	nil, {"mempool.size": "4000"}, {"evm.http_port": "8547"}, {"mempool.size": "1"}, {"mempool.size": "2"}, {"mempool.sise": "5"}, {"mode": "validator"},
}

var userActions = []*action{
	{name: "image", variants: len(images), often: 1, do: func(w *walk, v int) { w.edit(func(s *v1alpha1.SeiNodeSpec) { s.Image = images[v] }) }},
	{name: "overrides", variants: len(overrides), often: 1, do: func(w *walk, v int) { w.edit(func(s *v1alpha1.SeiNodeSpec) { s.Overrides = maps.Clone(overrides[v]) }) }},
	{name: "size", variants: 2, do: func(w *walk, v int) {
		w.edit(func(s *v1alpha1.SeiNodeSpec) { volume(s).Size = new(resource.MustParse([]string{"2Gi", "3Gi"}[v])) })
	}},
	{name: "policy", variants: 2, do: func(w *walk, v int) {
		w.edit(func(s *v1alpha1.SeiNodeSpec) {
			volume(s).DeletionPolicy = []v1alpha1.VolumeDeletionPolicy{v1alpha1.VolumeRetain, v1alpha1.VolumeDelete}[v]
		})
	}},
	{name: "pause", variants: 2, do: func(w *walk, v int) { w.edit(func(s *v1alpha1.SeiNodeSpec) { s.Paused = v == 0 }) }},
	{name: "retry", variants: 1, do: func(w *walk, _ int) { w.ask(v1alpha1.AnnotationRetry) }},
	{name: "restart", variants: 1, do: func(w *walk, _ int) { w.ask(v1alpha1.AnnotationRestart) }},
	{name: "labels", variants: 2, do: func(w *walk, v int) {
		w.edit(func(s *v1alpha1.SeiNodeSpec) {
			s.PodLabels = map[string]v1alpha1.LabelValue{"team": v1alpha1.LabelValue([]string{"a", "b"}[v])}
		})
	}},
	{name: "peers", variants: 3, do: func(w *walk, v int) {
		w.edit(func(s *v1alpha1.SeiNodeSpec) {
			s.Peers = [][]v1alpha1.PeerSource{nil, {{Label: &v1alpha1.LabelPeers{Selector: peerLabels}}},
				{{Static: &v1alpha1.StaticPeers{Addresses: []v1alpha1.PeerAddress{"0123456789abcdef0123456789abcdef01234567@peer.example.com:26656"}}}}}[v]
		})
	}},
	{name: "snapshot", variants: 3, of: []string{"full", "fleet"}, do: func(w *walk, v int) {
		servers := []v1alpha1.HostPort{"a:1", "b:1"}
		w.edit(func(s *v1alpha1.SeiNodeSpec) {
			s.FullNode.Snapshot = []*v1alpha1.SnapshotSource{nil, {S3: &v1alpha1.S3Snapshot{TargetHeight: 100}, RPCServers: servers},
				{StateSync: &v1alpha1.StateSyncSnapshot{}, RPCServers: servers}}[v]
		})
	}},
	{name: "key", variants: 4, often: 2, of: []string{"validator"}, do: (*walk).editKey},
	{name: "scale", variants: mostReplicas, of: []string{"fleet"}, do: func(w *walk, v int) {
		w.editFleet(func(f *v1alpha1.SeiNodeDeploymentSpec) { f.Replicas = int32(mostReplicas - v) })
	}},
	{name: "partition", variants: 3, of: []string{"fleet"}, do: func(w *walk, v int) {
		w.editFleet(func(f *v1alpha1.SeiNodeDeploymentSpec) { f.UpdateStrategy.InPlace.Partition = int32(v) })
	}},
	{name: "budget", variants: 2, of: []string{"fleet"}, do: func(w *walk, v int) {
		w.budget.allow(v + 1)
		w.editFleet(func(f *v1alpha1.SeiNodeDeploymentSpec) {
			f.UpdateStrategy.InPlace.MaxUnavailable = new(intstr.FromInt(v + 1))
		})
	}},
	{name: "freeze", variants: 2, of: []string{"fleet"}, do: func(w *walk, v int) {
		w.editFleet(func(f *v1alpha1.SeiNodeDeploymentSpec) { f.Paused = v == 0 })
	}},
	{name: "fleet-policy", variants: 2, of: []string{"fleet"}, do: func(w *walk, v int) {
		w.editFleet(func(f *v1alpha1.SeiNodeDeploymentSpec) {
			f.DeletionPolicy = []v1alpha1.VolumeDeletionPolicy{v1alpha1.VolumeRetain, v1alpha1.VolumeDelete}[v]
		})
	}},
	{name: "delete", variants: 3, often: 1, do: (*walk).remove},
	{name: "create", variants: 1, often: 1, do: func(w *walk, _ int) { w.create() }},
}

var peerLabels = map[string]string{"example.com/peer": "yes"}

func volume(s *v1alpha1.SeiNodeSpec) *v1alpha1.DataVolumeSpec {
	if s.DataVolume == nil {
		s.DataVolume = &v1alpha1.DataVolumeSpec{}
	}
	return s.DataVolume
}

// edit changes the spec of the node or of the fleet's template.
func (w *walk) edit(change func(*v1alpha1.SeiNodeSpec)) {
	w.T.Helper()
	w.write(func(obj client.Object) { change(specOf(obj)) })
}

func (w *walk) editFleet(change func(*v1alpha1.SeiNodeDeploymentSpec)) {
	w.T.Helper()
	w.write(func(obj client.Object) { change(&obj.(*v1alpha1.SeiNodeDeployment).Spec) })
}

// ask sets an annotation to a new value.
func (w *walk) ask(key string) {
	w.T.Helper()
	w.write(func(obj client.Object) { ask(obj, key, fmt.Sprint(len(w.log))) })
}

// write changes what the user has written down, and sends it if the object is there. What admission
// refuses is not written down either.
func (w *walk) write(change func(client.Object)) {
	w.T.Helper()
	next := w.wanted.DeepCopyObject().(client.Object)
	change(next)
	live := w.subject.make()
	if !w.read(next.GetName(), live) {
		w.wanted = next
		return
	}
	before := live.DeepCopyObject().(client.Object)
	change(live)
	err := w.Client.Patch(w.T.Context(), live, client.MergeFrom(before))
	switch {
	case apierrors.IsInvalid(err) || apierrors.IsNotFound(err):
		w.notef("refused: %v", err)
	case err != nil:
		w.T.Fatal(err)
	default:
		w.wanted = next
	}
}

// create sends what the user has written down, unless there is such an object already.
func (w *walk) create() {
	w.T.Helper()
	obj := w.wanted.DeepCopyObject().(client.Object)
	obj.SetNamespace(w.NS)
	err := w.Client.Create(w.T.Context(), obj)
	if apierrors.IsAlreadyExists(err) || apierrors.IsInvalid(err) {
		w.notef("not created: %v", err)
		return
	}
	if err != nil {
		w.T.Fatal(err)
	}
	w.rememberNames()
}

// propagations are the ways of deletion.
var propagations = []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}

// remove deletes the subject, and notes which claims have to stay.
func (w *walk) remove(variant int) {
	w.T.Helper()
	live := w.subject.make()
	if !w.read(live.GetName(), live) || live.GetDeletionTimestamp() != nil {
		return
	}
	orphan := propagations[variant] == metav1.DeletePropagationOrphan
	for _, name := range nodesOf(live) {
		if n := (&v1alpha1.SeiNode{}); w.read(name, n) && n.DeletionTimestamp != nil {
			continue // it was deleted before by itself, which has decided what becomes of its claim
		}
		w.noteClaim(name, orphan || retains(live))
	}
	if orphan && w.subject.name == "validator" {
		w.repairs["orphan"] = w.endOrphan
	}
	err := w.Client.Delete(w.T.Context(), live, client.PropagationPolicy(propagations[variant]), client.Preconditions{UID: new(live.GetUID())})
	if client.IgnoreNotFound(err) != nil {
		w.T.Fatal(err)
	}
}

// retains reports whether volumes stay when an object is deleted.
func retains(obj client.Object) bool {
	if f, ok := obj.(*v1alpha1.SeiNodeDeployment); ok {
		node := &v1alpha1.SeiNode{Spec: f.Spec.Template.Spec}
		return f.Spec.DeletionPolicy == v1alpha1.VolumeRetain || render.DeletionPolicy(node) == v1alpha1.VolumeRetain
	}
	return render.DeletionPolicy(obj.(*v1alpha1.SeiNode)) == v1alpha1.VolumeRetain
}

// noteClaim notes that a node's claim has to stay from now on, or that it may go.
func (w *walk) noteClaim(node string, stays bool) {
	claim := &corev1.PersistentVolumeClaim{}
	name := "data-" + node
	if delete(w.kept, name); stays && w.read(name, claim) && claim.DeletionTimestamp == nil {
		w.kept[name] = claim.UID
	}
}

// editKey puts another key into the validator's Secret: its own, that of a running validator, one that
// nobody uses, and no key at all.
func (w *walk) editKey(variant int) {
	w.T.Helper()
	own, _ := world.ConsensusKey(ownKey)
	taken, _ := world.ConsensusKey(takenKey)
	unused, _ := world.ConsensusKey(unusedKey)
	file := [][]byte{own, taken, unused, []byte("no key")}[variant]
	w.keyEdited = variant != 0
	world.Edit(w.World, "signing", &corev1.Secret{}, func(s *corev1.Secret) { s.Data[v1alpha1.SecretKeySigningKey] = file })
}
