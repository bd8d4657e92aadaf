package fleet

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

// The images a random fleet is told to run. The last one never starts.
var images = []string{"seid:a", "seid:b", "seid:c", "seid:bad"}

// mostNodes is the size of the largest fleet.
const mostNodes = 7

// storm does random things to a fleet of three to seven nodes.
type storm struct {
	fleets
	random *rand.Rand
	watch  *watcher
	// mend are the troubles made, each with its cure.
	mend []func()
	log  []string
}

func (s *storm) notef(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

// step does one random thing.
func (s *storm) step() {
	steps := []func(){
		s.changeImage, s.changeImage, s.changeOverrides, s.changeOverrides, s.changeAll, s.scale, s.scale, s.pause, s.setOne, s.hold, s.mark,
		s.killPod, s.killPod, s.fallBehind, s.crash, s.silence, s.deleteNode, s.restart,
	}
	steps[s.random.IntN(len(steps))]()
}

func (s *storm) changeImage() {
	to := images[s.random.IntN(len(images))]
	s.notef("image %s", to)
	s.edit("rpc", image(to))
}

// changeOverrides changes the configuration, to one that seid refuses or not.
func (s *storm) changeOverrides() {
	to := []string{"1", "2", "3"}[s.random.IntN(3)]
	s.notef("mempool.size %s", to)
	s.edit("rpc", overrides(map[string]string{"mempool.size": to}))
}

// changeAll changes the image and a field that restarts nothing, which makes every node busy at once.
func (s *storm) changeAll() {
	to, retain := images[s.random.IntN(len(images))], []v1alpha1.VolumeDeletionPolicy{v1alpha1.VolumeRetain, v1alpha1.VolumeDelete}[s.random.IntN(2)]
	s.notef("image %s and volumes %s", to, retain)
	s.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) {
		f.Spec.Template.Spec.Image = to
		f.Spec.Template.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: retain}
	})
}

func (s *storm) replicas() int32 { return int32(3 + s.random.IntN(mostNodes-2)) }

func (s *storm) scale() {
	to := s.replicas()
	s.notef("scale %d", to)
	s.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) { f.Spec.Replicas = to })
}

func (s *storm) pause() {
	paused := s.random.IntN(2) == 0
	s.notef("paused %v", paused)
	s.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) { f.Spec.Paused = paused })
}

// setOne sets one node apart from the template.
func (s *storm) setOne() {
	one := v1alpha1.NodeSettings{Ordinal: int32(s.random.IntN(mostNodes)), Overrides: map[string]string{"mempool.cache_size": "9"}}
	if s.random.IntN(2) == 0 {
		one.Paused, one.Overrides = new(true), nil
	}
	s.notef("settings %+v", one)
	s.edit("rpc", settings(one))
}

func (s *storm) hold() {
	partition := int32(s.random.IntN(4))
	s.notef("partition %d", partition)
	s.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) { f.Spec.UpdateStrategy.InPlace.Partition = partition })
}

func (s *storm) mark() {
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: s.NS, Name: s.node()}}
	s.notef("mark %s", node.Name)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+v1alpha1.AnnotationRemoveFirst+`":"true"}}}`))
	if err := s.Client.Patch(s.T.Context(), node, patch); client.IgnoreNotFound(err) != nil {
		s.T.Fatal(err)
	}
}

func (s *storm) killPod() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.NS, Name: s.node() + "-0"}}
	s.notef("kill %s", pod.Name)
	if err := s.Client.Delete(s.T.Context(), pod); client.IgnoreNotFound(err) != nil {
		s.T.Fatal(err)
	}
}

func (s *storm) fallBehind() {
	name := s.node()
	s.notef("out of sync %s", name)
	s.Sidecars.SetInSync(s.Key(name), false)
	s.mend = append(s.mend, func() { s.Sidecars.SetInSync(s.Key(name), true) })
}

func (s *storm) crash() {
	name := s.node()
	s.notef("crash %s", name)
	s.mend = append(s.mend, s.Pods.Rule(podsim.Match{Namespace: s.NS, Pod: name + "-0", Container: "seid"}, podsim.Behaviour{Exit: new(int32(1))}))
}

// silence loses the machine of a node.
func (s *storm) silence() {
	pod := &corev1.Pod{}
	err := s.Client.Get(s.T.Context(), client.ObjectKey{Namespace: s.NS, Name: s.node() + "-0"}, pod)
	if err != nil || pod.Spec.NodeName == "" {
		return
	}
	s.notef("lose the machine of %s", pod.Name)
	if err := s.Pods.LoseNode(s.T.Context(), pod.Spec.NodeName); err != nil {
		s.T.Fatal(err)
	}
	s.mend = append(s.mend, func() {
		if err := s.Pods.RestoreNode(s.T.Context(), pod.Spec.NodeName); err != nil {
			s.T.Fatal(err)
		}
	})
}

func (s *storm) deleteNode() {
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: s.NS, Name: s.node()}}
	s.notef("delete %s", node.Name)
	if err := s.Client.Delete(s.T.Context(), node); client.IgnoreNotFound(err) != nil {
		s.T.Fatal(err)
	}
}

func (s *storm) restart() {
	s.notef("restart the operator")
	s.RestartOperator()
}

func (s *storm) node() string { return child("rpc", s.random.IntN(mostNodes)) }

// sequences is how many random sequences are run: a few, so that everyday runs stay
// short, or as many as FLEET_SEQUENCES says.
func sequences(t *testing.T) int {
	t.Helper()
	text := os.Getenv("FLEET_SEQUENCES")
	if text == "" {
		return 6
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("FLEET_SEQUENCES: %v", err)
	}
	return n
}

// Whatever happens to a fleet, at every single change of a node no more nodes are down
// because of us than allowed, and none is moved past one that failed; and when the storm is over
// the fleet is what a new one of its spec would be, and silent.
func TestProperty_RandomSequences_NeverHurtMoreNodesThanAllowed(t *testing.T) {
	w := newOperatedWorld(t)
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:bad"}, podsim.Behaviour{PullError: "no such image"})
	w.refuse("1")
	w.bringUp(unavailable(rpc("rpc", 5), 1, 600))
	watch := w.watchNodes()
	for sequence := range sequences(t) {
		s := &storm{fleets: w, random: rand.New(rand.NewPCG(2026, uint64(sequence))), watch: watch}
		s.run(sequence)
		if (sequence+1)%20 == 0 {
			t.Logf("%d sequences", sequence+1)
		}
		if t.Failed() {
			t.Fatalf("sequence %d: %v", sequence, s.log)
		}
	}
}

func (s *storm) run(sequence int) {
	s.T.Helper()
	allowed := 1 + s.random.IntN(2)
	s.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) {
		f.Spec.UpdateStrategy.InPlace.MaxUnavailable = new(intstr.FromInt(allowed))
	})
	s.watch.reset()
	for range 3 + s.random.IntN(4) {
		s.step()
		s.watch.progress(s.random.IntN(12), 300*time.Millisecond)
		s.watch.require(s.T, allowed)
	}
	for _, cure := range s.mend {
		cure()
	}
	final, replicas := images[s.random.IntN(3)], s.replicas()
	s.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) {
		f.Spec.Paused, f.Spec.Template.Spec.Image, f.Spec.Replicas, f.Spec.Nodes = false, final, replicas, nil
		f.Spec.Template.Spec.Overrides = map[string]string{"mempool.size": "4"}
		f.Spec.UpdateStrategy.InPlace.Partition = 0
	})
	s.notef("calm with %d of %s", replicas, final)
	calm := s.await("rpc", func(f *v1alpha1.SeiNodeDeployment) bool { return runs(final)(f) && f.Status.Replicas == replicas })
	s.watch.require(s.T, allowed)
	s.sameAsFromScratch(calm)
	s.forceWrite("rpc")
	mark := s.Recorder.Mark()
	s.forceReconcile("rpc", sequence)
	// A second farewell to a node that is gone already changes nothing.
	changed := func(r envtest.Request) bool { return r.Code != http.StatusNotFound }
	s.Recorder.Since(mark).Of("seinodedeployments", "seinodedeployments/status", "seinodes", "services").Writes().In(s.NS).Where(changed).
		RequireNone(s.T, "writes of a fleet that came to rest")
}

// sameAsFromScratch wants the nodes to be what a new fleet of this spec would have, whatever was
// asked for before.
func (s *storm) sameAsFromScratch(snd *v1alpha1.SeiNodeDeployment) {
	s.T.Helper()
	ordinals := fleet.Ordinals(snd)
	for i := range mostNodes {
		if !slices.Contains(ordinals, i) {
			envtest.WaitGone[v1alpha1.SeiNode](s.T, s.Env, s.NS, child("rpc", i))
			continue
		}
		node := s.awaitNode(child("rpc", i), up)
		want := fleet.Target(snd, s.Platform, i)
		if same, err := want.Same(node, snd); err != nil || !same {
			s.T.Errorf("%s is not what the template asks for (%v): %+v", node.Name, err, node.Spec)
		}
	}
}
