package fleet

import (
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

// fromEnvironment is a number that a variable sets.
func fromEnvironment(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// Whatever happens to a fleet, at every single change of a node no more nodes are down
// because of us than allowed, and none is moved past one that failed; and when the storm is over
// the fleet is what a new one of its spec would be, and silent.
//
// A few sequences are run, so that everyday runs stay short, or as many as FLEET_SEQUENCES says,
// from the one that FLEET_SEQUENCE names, on FLEET_WORLDS fleets side by side.
func TestProperty_RandomSequences_NeverHurtMoreNodesThanAllowed(t *testing.T) {
	first, count, worlds := fromEnvironment(t, "FLEET_SEQUENCE", 0), fromEnvironment(t, "FLEET_SEQUENCES", 6), fromEnvironment(t, "FLEET_WORLDS", 3)
	for world := range min(worlds, count) {
		t.Run(strconv.Itoa(world), func(t *testing.T) {
			storms(t, first+world, first+count, worlds)
		})
	}
}

// storms runs every so many sequences on one fleet.
func storms(t *testing.T, from, to, step int) {
	t.Helper()
	w := newOperatedWorld(t)
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:bad"}, podsim.Behaviour{PullError: "no such image"})
	w.refuse("1")
	w.bringUp(unavailable(rpc(stormy, 5), 1, 600))
	scratch := map[string]string{}
	var s *storm
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("FLEET_SEQUENCE=%d: %q", s.sequence, s.log)
		}
	})
	for sequence := from; sequence < to; sequence += step {
		s = &storm{fleets: w, sequence: sequence, random: rand.New(rand.NewPCG(2026, uint64(sequence))), scratch: scratch}
		s.run()
		if t.Failed() {
			return
		}
		t.Logf("sequence %d: %q", sequence, s.log)
	}
}

func (s *storm) run() {
	s.T.Helper()
	s.watch = s.watchNodes() // a watch does not last for hundreds of sequences
	defer s.watch.stop()
	s.replicas = int(s.fleet(stormy).Spec.Replicas)
	s.allow(1 + s.random.IntN(2))
	s.change(func(f *v1alpha1.SeiNodeDeployment) {
		f.Spec.UpdateStrategy.InPlace.MaxUnavailable = new(intstr.FromInt(s.allowed))
	})
	for range 4 + s.random.IntN(5) {
		s.step()
		s.watch.progress(s.random.IntN(12), 300*time.Millisecond)
		s.catchUp()
		if s.random.IntN(3) > 0 {
			s.learn()
		}
		if s.watch.require(s.T, s.allowed); s.T.Failed() {
			return
		}
	}
	s.releaseAll()
	for _, cure := range s.repairs {
		cure()
	}
	calm := s.calm()
	s.sameAsFromScratch(calm)
	for _, violation := range s.Sidecars.Violations() {
		s.T.Error(violation)
	}
	s.forceWrite(stormy)
	mark := s.Recorder.Mark()
	s.forceReconcile(stormy)
	// Deleting a node that is already gone changes nothing.
	changed := func(r envtest.Request) bool { return r.Code != http.StatusNotFound }
	s.Recorder.Since(mark).Of("seinodedeployments", "seinodedeployments/status", "seinodes", "services").Writes().In(s.NS).Where(changed).
		RequireNone(s.T, "writes of a fleet that came to rest")
	s.Eventually("the last of the fleet", func() bool { return s.watch.hasSeen(version(calm)) })
	s.watch.require(s.T, s.allowed)
}

// learn has the operator reconcile the fleet, and records what its caches held before. While watches
// are held back it does nothing.
func (s *storm) learn() {
	if s.Watches.Held("seinodes") || s.Watches.Held("seinodedeployments") {
		return
	}
	cached := &v1alpha1.SeiNodeList{}
	if err := s.Cache.List(s.T.Context(), cached, client.InNamespace(s.NS), client.MatchingLabels{v1alpha1.LabelDeployment: stormy}); err != nil {
		s.T.Fatal(err)
	}
	// The deadline of a rollout is part of the spec and changes nothing about the nodes.
	asked := s.edit(stormy, func(f *v1alpha1.SeiNodeDeployment) { f.Spec.UpdateStrategy.InPlace.ProgressDeadlineSeconds++ })
	looked := s.await(stormy, func(f *v1alpha1.SeiNodeDeployment) bool {
		return f.Generation == asked.Generation && f.Status.ObservedGeneration == asked.Generation
	})
	s.watch.learn(knowledge{version: version(looked), fleet: looked, nodes: cached.Items})
}

// calm asks for a valid fleet, and waits for it.
func (s *storm) calm() *v1alpha1.SeiNodeDeployment {
	s.T.Helper()
	s.replicas = s.size()
	s.allow(0)
	final, replicas := images[s.random.IntN(3)], int32(s.replicas)
	s.change(func(f *v1alpha1.SeiNodeDeployment) {
		f.Spec.Paused, f.Spec.Replicas, f.Spec.Nodes = false, replicas, nil
		f.Spec.Template = quiet(final)
		f.Spec.UpdateStrategy.InPlace.Partition, f.Spec.UpdateStrategy.InPlace.ProgressDeadlineSeconds = 0, 600
	})
	s.notef("calm with %d of %s", replicas, final)
	return s.await(stormy, func(f *v1alpha1.SeiNodeDeployment) bool { return runs(final)(f) && f.Status.Replicas == replicas })
}

// quiet is the template that every sequence ends with.
func quiet(image string) v1alpha1.SeiNodeTemplate {
	template := rpc(stormy, 1).Spec.Template
	template.Spec.Image, template.Spec.Overrides = image, map[string]string{"mempool.size": "4"}
	return template
}
