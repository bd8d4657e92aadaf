package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// The images a random fleet is told to run. The last one never starts.
var images = []string{"seid:a", "seid:b", "seid:c", "seid:bad"}

// mostNodes is the size of the largest fleet.
const mostNodes = 7

// stormy is the fleet that random things are done to.
const stormy = "storm"

// late are the resources whose watch events may be held back.
var late = []string{"seinodes", "seinodes", "seinodedeployments", "pods", "statefulsets", "persistentvolumeclaims"}

// storm does random things to a fleet of three to seven nodes.
type storm struct {
	fleets
	sequence int
	random   *rand.Rand
	watch    *watcher
	// scratch are pictures of new nodes, by image.
	scratch map[string]string
	// percent is what maxUnavailable is of the replicas; zero when it is a number. allowed is the
	// most it has been.
	percent, replicas, allowed int
	// repairs undo the faults that were injected.
	repairs []func()
	log     []string
}

func (s *storm) notef(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

// change edits the fleet.
func (s *storm) change(edit func(*v1alpha1.SeiNodeDeployment)) { s.edit(stormy, edit) }

// step does one random thing.
func (s *storm) step() {
	steps := []func(){
		s.changeImage, s.changeImage, s.changeOverrides, s.changeOverrides, s.changeAll, s.changeBudget, s.failAndWiden, s.failAndWiden,
		s.scale, s.scale, s.pause, s.setOne, s.partition, s.mark, s.killPod, s.killPod, s.fallBehind, s.crash, s.loseMachine, s.silenceSidecar, s.deleteNode, s.deleteStatefulSet,
		s.restart, s.lag, s.lag, s.lag,
	}
	steps[s.random.IntN(len(steps))]()
}

func (s *storm) changeImage() {
	to := images[s.random.IntN(len(images))]
	s.notef("image %s", to)
	s.change(image(to))
}

// changeOverrides changes the configuration, to one that seid refuses or not.
func (s *storm) changeOverrides() {
	to := []string{"1", "2", "3"}[s.random.IntN(3)]
	s.notef("mempool.size %s", to)
	s.change(overrides(map[string]string{"mempool.size": to}))
}

// changeAll changes the image and a field that restarts nothing, which makes every node busy at once.
func (s *storm) changeAll() {
	to, retain := images[s.random.IntN(len(images))], []v1alpha1.VolumeDeletionPolicy{v1alpha1.VolumeRetain, v1alpha1.VolumeDelete}[s.random.IntN(2)]
	s.notef("image %s and volumes %s", to, retain)
	s.change(func(f *v1alpha1.SeiNodeDeployment) {
		f.Spec.Template.Spec.Image = to
		f.Spec.Template.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: retain}
	})
}

// changeBudget sets how many nodes a rollout may take down: one to three, or a third.
func (s *storm) changeBudget() {
	to := intstr.FromInt(1 + s.random.IntN(3))
	if s.percent = 0; s.random.IntN(3) == 0 {
		s.percent, to = 34, intstr.FromString("34%")
	}
	s.setBudget(to)
}

func (s *storm) setBudget(to intstr.IntOrString) {
	s.notef("maxUnavailable %s", to.String())
	s.allow(to.IntValue())
	s.change(func(f *v1alpha1.SeiNodeDeployment) { f.Spec.UpdateStrategy.InPlace.MaxUnavailable = &to })
}

// failAndWiden waits until a template has failed, as long as it may well do so, and then allows
// more nodes to be down.
func (s *storm) failAndWiden() {
	s.notef("image seid:bad")
	s.change(image("seid:bad"))
	s.watch.await(hasFailed, 2*time.Second)
	s.learn()
	s.percent = 0
	s.setBudget(intstr.FromInt(3))
}

// allow notes how many nodes may be down. Whoever was taken down under a larger budget stays down
// for a while under a smaller one.
func (s *storm) allow(nodes int) {
	if s.percent > 0 {
		nodes = s.percent * s.replicas / 100
	}
	s.allowed = max(s.allowed, nodes, 1)
}

func (s *storm) scale() {
	s.replicas = s.size()
	s.notef("scale %d", s.replicas)
	s.allow(0)
	s.change(func(f *v1alpha1.SeiNodeDeployment) { f.Spec.Replicas = int32(s.replicas) })
}

func (s *storm) size() int { return 3 + s.random.IntN(mostNodes-2) }

func (s *storm) pause() {
	paused := s.random.IntN(2) == 0
	s.notef("paused %v", paused)
	s.change(func(f *v1alpha1.SeiNodeDeployment) { f.Spec.Paused = paused })
}

// setOne sets one node apart from the template.
func (s *storm) setOne() {
	one := v1alpha1.NodeSettings{Ordinal: int32(s.random.IntN(mostNodes)), Overrides: map[string]string{"mempool.cache_size": "9"}}
	if s.random.IntN(2) == 0 {
		one.Paused, one.Overrides = new(true), nil
	}
	s.notef("settings of %d: paused %v, overrides %v", one.Ordinal, one.Paused != nil, one.Overrides)
	s.change(settings(one))
}

func (s *storm) partition() {
	partition := int32(s.random.IntN(4))
	s.notef("partition %d", partition)
	s.change(func(f *v1alpha1.SeiNodeDeployment) { f.Spec.UpdateStrategy.InPlace.Partition = partition })
}

func (s *storm) mark() {
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: s.NS, Name: s.anyNode()}}
	s.notef("mark %s", node.Name)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+v1alpha1.AnnotationRemoveFirst+`":"true"}}}`))
	if err := s.Client.Patch(s.T.Context(), node, patch); client.IgnoreNotFound(err) != nil {
		s.T.Fatal(err)
	}
}

// remove deletes an object, if it is there.
func (s *storm) remove(obj client.Object, name string) {
	s.notef("delete %T %s", obj, name)
	obj.SetNamespace(s.NS)
	obj.SetName(name)
	err := s.Client.Delete(s.T.Context(), obj, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		s.T.Fatal(err)
	}
}

func (s *storm) killPod()           { s.remove(&corev1.Pod{}, s.anyNode()+"-0") }
func (s *storm) deleteNode()        { s.remove(&v1alpha1.SeiNode{}, s.anyNode()) }
func (s *storm) deleteStatefulSet() { s.remove(&appsv1.StatefulSet{}, s.anyNode()) }

func (s *storm) fallBehind() {
	name := s.anyNode()
	s.notef("out of sync %s", name)
	s.Sidecars.SetInSync(s.Key(name), false)
	s.repairs = append(s.repairs, func() { s.Sidecars.SetInSync(s.Key(name), true) })
}

func (s *storm) crash() {
	name := s.anyNode()
	after := time.Duration(s.random.IntN(2)) * time.Second
	s.notef("crash %s after %s", name, after)
	crash := podsim.Behaviour{Exit: new(int32(1)), ExitAfter: after}
	s.repairs = append(s.repairs, s.Pods.Rule(podsim.Match{Namespace: s.NS, Pod: name + "-0", Container: "seid"}, crash))
}

// silenceSidecar makes a sidecar answer no request.
func (s *storm) silenceSidecar() {
	name := s.anyNode()
	s.notef("silent sidecar %s", name)
	s.repairs = append(s.repairs, s.Sidecars.Break(s.Key(name), sidecarsim.Fault{Hang: true}))
}

// loseMachine loses the machine of a node.
func (s *storm) loseMachine() {
	pod := &corev1.Pod{}
	err := s.Client.Get(s.T.Context(), client.ObjectKey{Namespace: s.NS, Name: s.anyNode() + "-0"}, pod)
	if err != nil || pod.Spec.NodeName == "" {
		return
	}
	s.notef("lose the machine of %s", pod.Name)
	if err := s.Pods.LoseNode(s.T.Context(), pod.Spec.NodeName); err != nil {
		s.T.Fatal(err)
	}
	s.repairs = append(s.repairs, func() {
		if err := s.Pods.RestoreNode(s.T.Context(), pod.Spec.NodeName); err != nil {
			s.T.Fatal(err)
		}
	})
}

// restart ends the operator and starts another. Its controllers wait until their caches are filled, so
// nothing may be held back before they work.
func (s *storm) restart() {
	s.notef("restart the operator")
	s.releaseAll()
	s.RestartOperator()
	s.learn()
}

// lag holds back the watch events of a resource, for some of the steps that follow.
func (s *storm) lag() {
	resource := late[s.random.IntN(len(late))]
	s.notef("hold %s", resource)
	s.Watches.Hold(resource)
}

// catchUp ends some of the holds: the events are sent, or the watch begins with a new list, or it is
// cut.
func (s *storm) catchUp() {
	for _, resource := range slices.Compact(slices.Clone(late)) {
		if !s.Watches.Held(resource) {
			continue
		}
		switch s.random.IntN(4) {
		case 0:
			s.notef("release %s", resource)
			s.Watches.Release(resource)
		case 1:
			s.notef("list %s anew", resource)
			s.Watches.Expire(resource)
		case 2:
			s.notef("cut the watch of %s", resource)
			s.Watches.Cut(resource)
		}
	}
}

func (s *storm) releaseAll() {
	for _, resource := range late {
		s.Watches.Release(resource)
	}
}

func (s *storm) anyNode() string { return child(stormy, s.random.IntN(mostNodes)) }
