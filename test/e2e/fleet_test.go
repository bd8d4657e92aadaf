package e2e

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

const (
	// haltHeight leaves the nodes that join the time to join.
	haltHeight = 20
	validators = 4
	servers    = 2
)

// The life of a network of two fleets: four validators found a chain that two full nodes join, are upgraded
// together at a height they all halt at, and later one by one while the chain continues; the full nodes are
// updated and configured under their clients; the validators survive a configuration that seid refuses, a
// drained machine and the deletion of their fleet. The steps share one chain, because founding it is what
// takes long.
func TestFleet_FoundsAChain_AndIsRolledWhileItLives(t *testing.T) {
	s := begin(t, "fleet")
	s.chain.id = "fleet-1"
	s.peers = v1alpha1.LabelPeers{Selector: map[string]string{v1alpha1.LabelDeployment: "v"}}
	for _, step := range []struct {
		name string
		run  func(*scenario)
	}{
		{"founded by four and joined by two", (*scenario).foundTogether},
		{"halted validators are upgraded together", (*scenario).upgradeTogether},
		{"servers are updated under their clients", (*scenario).updateUnderClients},
		{"servers are configured under their clients", (*scenario).configureUnderClients},
		{"validators are updated one by one", (*scenario).updateOneByOne},
		{"a refused configuration stops at the first validator", (*scenario).stopAtTheFirst},
		{"a drain takes one validator", (*scenario).drainWithinTheBudget},
		{"the fleet is deleted and its validators sign on", (*scenario).deleteInForeground},
	} {
		passed := t.Run(step.name, func(t *testing.T) {
			theReport.watch(t)
			step.run(s.in(t))
		})
		if !passed {
			return // the next step begins where this one should have ended
		}
	}
}

// foundTogether applies both fleets at once. The full nodes wait for the genesis, which they find in the namespace, and
// for the validators, whom they find by their labels: there is no bucket.
func (s *scenario) foundTogether() {
	s.create(s.servers())
	s.createValidators()
	s.awaitHeight("v-0", 10)
	s.awaitFleet("v", v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
	s.awaitFleet("rpc", v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
	for ordinal := range servers {
		name := fmt.Sprintf("rpc-%d", ordinal)
		s.awaitPeers(name, 1)
		s.awaitHeight(name, 10)
	}
	fleet := s.fleet("v")
	if fleet.Status.GenesisHash == "" || fleet.Status.GenesisConfigMap == "" || fleet.Status.GenesisS3URI != "" {
		s.t.Errorf("the genesis has hash %q and is in ConfigMap %q and bucket %q, want the first two alone",
			fleet.Status.GenesisHash, fleet.Status.GenesisConfigMap, fleet.Status.GenesisS3URI)
	}
}

// createValidators measures how long it takes from nothing to a chain.
func (s *scenario) createValidators() {
	s.t.Helper()
	s.undisturbed.Lock()
	defer s.undisturbed.Unlock()
	applied := time.Now()
	s.create(s.founders())
	s.awaitHeight("v-0", 1)
	theReport.figuref(s.t, "from applying four validators to block 1", "%.1f s", time.Since(applied).Seconds())
}

// upgradeTogether is a coordinated upgrade. At the halt height all validators end. A validator that is away needs no
// protection, so all of them take over the new template at once and none waits for another.
func (s *scenario) upgradeTogether() {
	s.awaitHeight("rpc-0", haltHeight-1)
	names := make([]string, 0, validators)
	for ordinal := range validators {
		names = append(names, fmt.Sprintf("v-%d", ordinal))
	}
	s.awaitAllEnded(names, render.ContainerSeid)
	halted := s.height("rpc-0")
	s.t.Logf("all validators are halted at height %d", halted)

	s.editFleet("v", func(fleet *v1alpha1.SeiNodeDeployment) {
		fleet.Spec.Template.Spec.Image = imageNext
		delete(fleet.Spec.Template.Spec.Overrides, keyHaltHeight)
	})
	s.awaitRolled("v", imageNext, 0)
	var lastMade, firstReady time.Time
	for _, name := range names {
		pod := s.pod(name)
		if made := pod.CreationTimestamp.Time; made.After(lastMade) {
			lastMade = made
		}
		if ready := readySince(pod); firstReady.IsZero() || ready.Before(firstReady) {
			firstReady = ready
		}
	}
	if lastMade.After(firstReady) {
		s.t.Errorf("the last validator's pod was made at %s, when another was ready since %s: they waited for each other", lastMade, firstReady)
	}
	s.awaitHeight("rpc-0", max(halted, haltHeight)+5)
}

// updateUnderClients updates the full nodes while a client asks their Service, from inside the cluster, ten times a second.
func (s *scenario) updateUnderClients() {
	poller := s.startPoller("rpc-internal")
	began := time.Now()
	s.editFleet("rpc", func(fleet *v1alpha1.SeiNodeDeployment) { fleet.Spec.Template.Spec.Image = imageNext })
	s.awaitRolled("rpc", imageNext, servers-1)
	theReport.figuref(s.t, "a rolling update of the servers", "%.1f s", time.Since(began).Seconds())
	poller.wantNoFailure()
}

// configureUnderClients changes a key that seid reads when it starts. The pods stay, seid alone is restarted,
// and the same client keeps asking.
func (s *scenario) configureUnderClients() {
	poller := poller{s}
	before := map[string]*corev1.Pod{}
	for ordinal := range servers {
		name := fmt.Sprintf("rpc-%d", ordinal)
		before[name] = s.pod(name)
	}
	began := time.Now()
	s.editFleet("rpc", func(fleet *v1alpha1.SeiNodeDeployment) {
		fleet.Spec.Template.Spec.Overrides = map[string]string{"evm.max_blocks_for_log": "1999"}
	})
	s.awaitRolled("rpc", imageNext, servers-1)
	theReport.figuref(s.t, "a new configuration of the servers", "%.1f s", time.Since(began).Seconds())
	for name, old := range before {
		pod := s.pod(name)
		if pod.UID != old.UID || restarts(pod, render.ContainerSeid) != restarts(old, render.ContainerSeid)+1 {
			s.t.Errorf("%s: another pod: %t; seid was restarted %d times before and %d now, want once more", name, pod.UID != old.UID,
				restarts(old, render.ContainerSeid), restarts(pod, render.ContainerSeid))
		}
	}
	poller.wantNoFailure()
}

// updateOneByOne updates the validators while the chain continues. All peers of the full nodes get new
// addresses, and are found again.
func (s *scenario) updateOneByOne() {
	s.editFleet("v", func(fleet *v1alpha1.SeiNodeDeployment) { fleet.Spec.Template.Spec.Image = imageSeid })
	s.awaitRolled("v", imageSeid, validators-1) // two of four away would stop the chain
	height := s.height("v-0")
	for ordinal := range servers {
		s.awaitHeight(fmt.Sprintf("rpc-%d", ordinal), height+2)
	}
}

// readySince is when the pod became ready.
func readySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}
