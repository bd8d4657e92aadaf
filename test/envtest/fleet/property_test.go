package fleet

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

// The images a random fleet is told to run. The last one never starts.
var images = []string{"seid:a", "seid:b", "seid:c", "seid:bad"}

// storm does random things to a fleet of up to five nodes.
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
	switch s.random.IntN(13) {
	case 0, 1, 2:
		to := images[s.random.IntN(len(images))]
		s.notef("image %s", to)
		s.edit("rpc", image(to))
	case 12:
		// A field that restarts nothing makes every node busy at once.
		to, retain := images[s.random.IntN(len(images))], []v1alpha1.VolumeDeletionPolicy{v1alpha1.VolumeRetain, v1alpha1.VolumeDelete}[s.random.IntN(2)]
		s.notef("image %s and volumes %s", to, retain)
		s.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) {
			f.Spec.Template.Spec.Image = to
			f.Spec.Template.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: retain}
		})
	case 3, 4:
		to := int32(3 + s.random.IntN(3))
		s.notef("scale %d", to)
		s.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) { f.Spec.Replicas = to })
	case 5:
		paused := s.random.IntN(2) == 0
		s.notef("paused %v", paused)
		s.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) { f.Spec.Paused = paused })
	case 6, 7:
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.NS, Name: s.node() + "-0"}}
		s.notef("kill %s", pod.Name)
		if err := s.Client.Delete(s.T.Context(), pod); client.IgnoreNotFound(err) != nil {
			s.T.Fatal(err)
		}
	case 8:
		name := s.node()
		s.notef("out of sync %s", name)
		s.Sidecars.SetInSync(s.Key(name), false)
		s.mend = append(s.mend, func() { s.Sidecars.SetInSync(s.Key(name), true) })
	case 9:
		name := s.node()
		s.notef("crash %s", name)
		s.mend = append(s.mend, s.Pods.Rule(podsim.Match{Namespace: s.NS, Pod: name + "-0", Container: "seid"}, podsim.Behaviour{Exit: new(int32(1))}))
	case 10:
		node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: s.NS, Name: s.node()}}
		s.notef("delete %s", node.Name)
		if err := s.Client.Delete(s.T.Context(), node); client.IgnoreNotFound(err) != nil {
			s.T.Fatal(err)
		}
	case 11:
		s.notef("restart the operator")
		s.RestartOperator()
	}
}

func (s *storm) node() string { return child("rpc", s.random.IntN(5)) }

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
// because of us than allowed; and when the storm is over the fleet is what its spec says,
// and silent.
func TestProperty_RandomSequences_NeverHurtMoreNodesThanAllowed(t *testing.T) {
	w := newOperatedWorld(t)
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:bad"}, podsim.Behaviour{PullError: "no such image"})
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
	final, replicas := images[s.random.IntN(3)], int32(3+s.random.IntN(3))
	s.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) {
		f.Spec.Paused, f.Spec.Template.Spec.Image, f.Spec.Replicas = false, final, replicas
	})
	s.notef("calm with %d of %s", replicas, final)
	s.await("rpc", func(f *v1alpha1.SeiNodeDeployment) bool { return runs(final)(f) && f.Status.Replicas == replicas })
	s.watch.require(s.T, allowed)
	for i := range 5 {
		if i < int(replicas) {
			s.awaitNode(child("rpc", i), up)
		} else {
			envtest.WaitGone[v1alpha1.SeiNode](s.T, s.Env, s.NS, child("rpc", i))
		}
	}
	s.forceWrite("rpc")
	mark := s.Recorder.Mark()
	s.forceReconcile("rpc", sequence)
	// A second farewell to a node that is gone already changes nothing.
	changed := func(r envtest.Request) bool { return r.Code != http.StatusNotFound }
	s.Recorder.Since(mark).Of("seinodedeployments", "seinodedeployments/status", "seinodes", "services").Writes().In(s.NS).Where(changed).
		RequireNone(s.T, "writes of a fleet that came to rest")
}
