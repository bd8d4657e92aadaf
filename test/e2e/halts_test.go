package e2e

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
)

// heldFinalizer keeps a pod that has ended, and so its successor away.
const heldFinalizer = "e2e.example.com/held"

// seidStart is the command line of a node.
var seidStart = []string{"seid", "start"}

// everyNode are the nodes that live through all upgrades.
func (s *scenario) everyNode() []string {
	names := append(make([]string, 0, 1+validators), "full")
	for ordinal := range validators {
		names = append(names, fmt.Sprintf("v-%d", ordinal))
	}
	return names
}

// planNext plans an upgrade for some blocks after the end of the vote. A transaction may wait for a minute until it is in
// a block, above all after a halt: a proposal that comes too late for its height is left alone, and made again.
func (s *scenario) planNext(name, info string, blocks int64) upgrade.Plan {
	s.t.Helper()
	for range 3 {
		plan := upgrade.Plan{Name: name, Info: info, Height: s.height("v-0") + votingBlocks + blocks}
		proposed := s.proposePlan(plan)
		if proposed.Height+votingBlocks > plan.Height {
			s.t.Logf("proposed at height %d, too late for an upgrade at %d", proposed.Height, plan.Height)
			continue
		}
		s.voteFor(proposed.ProposalID)
		s.awaitPlan(&plan)
		return plan
	}
	s.t.Fatalf("upgrade %s was proposed too late three times", name)
	return upgrade.Plan{}
}

// nameUpgrades gives validators and full node the images of the first upgrades.
func (s *scenario) nameUpgrades(count int) {
	s.t.Helper()
	s.editFleet("v", func(fleet *v1alpha1.SeiNodeDeployment) { fleet.Spec.Template.Spec.Upgrades = upgradeEntries(count) })
	s.edit("full", func(node *v1alpha1.SeiNode) { node.Spec.Upgrades = upgradeEntries(count) })
}

// haltWatch knows when the first of some nodes has halted.
type haltWatch struct {
	s     *scenario
	ended chan time.Time
}

// watchHalt looks at the processes of nodes from now on, so that a chain that halts before anybody waits for
// it is seen. The first one to end counts: not all end at once, because one that has not seen the last votes
// of the others continues without them until they are back. A node that does not run has halted already.
// Nodes that are new may be restarted once, for their peers: do not watch those before they have settled.
func (s *scenario) watchHalt(names ...string) haltWatch {
	s.t.Helper()
	w := haltWatch{s, make(chan time.Time, 1)}
	var running []int
	for _, name := range names {
		pids := processes(s.pod(name), seidStart)
		if len(pids) == 0 {
			w.ended <- time.Now()
			return w
		}
		running = append(running, pids...)
	}
	go w.watch(s.t.Context(), running)
	return w
}

func (w haltWatch) watch(ctx context.Context, running []int) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if slices.ContainsFunc(running, func(pid int) bool { return !isRunning(pid, seidStart) }) {
				w.ended <- time.Now()
				return
			}
		}
	}
}

// await waits until a node has halted, and returns when that was seen.
func (w haltWatch) await() (halted time.Time) {
	w.s.t.Helper()
	await(w.s.t, inSyncTimeout, "a node to halt", func(context.Context) (bool, string, error) {
		select {
		case halted = <-w.ended:
			return true, "", nil
		default:
			return false, "all run", nil
		}
	})
	return halted
}

// awaitSomeHalted waits until the operator knows that a node has stopped for an upgrade.
func (s *scenario) awaitSomeHalted() {
	s.t.Helper()
	await(s.t, inSyncTimeout, "a node to be "+string(v1alpha1.UpgradeHalted), func(context.Context) (bool, string, error) {
		seen := ""
		for _, name := range s.everyNode() {
			node := s.seiNode(name)
			if node.Status.Upgrade != nil && node.Status.Upgrade.State == v1alpha1.UpgradeHalted {
				return true, "", nil
			}
			seen += name + ": " + describeUpgrade(node) + "\n"
		}
		return false, seen, nil
	})
}

// awaitPulled waits until a node has the image of its next upgrade on its machine, and the pod that pulled it is gone.
func (s *scenario) awaitPulled(name, image string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, fmt.Sprintf("%s to have pulled %s", name, image), func(context.Context) (bool, string, error) {
		node := s.seiNode(name)
		pulled := node.Status.PulledAhead
		err := s.get(render.ImagePullPodName(node), &corev1.Pod{})
		return pulled != nil && pulled.Image == image && apierrors.IsNotFound(err), fmt.Sprintf("%+v, pod: %v", pulled, err), nil
	})
}

func (s *scenario) figureHalt(how string, halted time.Time) {
	s.t.Helper()
	theReport.figuref(s.t, "from the halt for an upgrade to the next block, "+how, "%.1f s", time.Since(halted).Seconds())
}

// awaitUpgraded waits until nodes run the image of an upgrade, have applied it and are in sync.
func (s *scenario) awaitUpgraded(upgrade string, names ...string) {
	s.t.Helper()
	for _, name := range names {
		await(s.t, inSyncTimeout, name+" to be upgraded to "+upgrade, func(context.Context) (bool, string, error) {
			node := &v1alpha1.SeiNode{}
			err := s.get(name, node)
			is := node.Status.Upgrade
			applied := is != nil && is.Applied != nil && is.Applied.Name == upgrade && is.State == v1alpha1.UpgradeUpToDate
			ready := conditions.Is(node.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync)
			return applied && ready && node.Status.Plan == nil && node.Status.CurrentImage == upgradeImage(upgrade), describeUpgrade(node), err
		})
	}
}

// awaitAllEarly waits until all nodes run the image of a minor upgrade before its height. No look on the way may find more
// than one validator away.
func (s *scenario) awaitAllEarly(upgrade string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, "all nodes to have taken "+upgrade+" early", func(context.Context) (bool, string, error) {
		if ready := s.fleet("v").Status.ReadyReplicas; ready < validators-1 {
			s.t.Errorf("%d of %d validators are ready during the rollout of a minor upgrade", ready, validators)
		}
		for _, name := range s.everyNode() {
			node := s.seiNode(name)
			is := node.Status.Upgrade
			early := is != nil && is.State == v1alpha1.UpgradeMovedEarly && node.Status.CurrentImage == upgradeImage(upgrade)
			if !early || !conditions.Is(node.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync) {
				return false, name + ": " + describeUpgrade(node), nil
			}
		}
		return true, "", nil
	})
}

func describeUpgrade(node *v1alpha1.SeiNode) string {
	text := describe(node) + "; image " + node.Status.CurrentImage
	if is := node.Status.Upgrade; is != nil {
		text += fmt.Sprintf("; upgrade %s, scheduled %+v, applied %+v", is.State, is.Scheduled, is.Applied)
	}
	return text
}

// holdPod ends a node's pod and keeps another one from being made, as a machine that is lost does.
func (s *scenario) holdPod(node string) {
	s.t.Helper()
	pod := s.pod(node)
	before := pod.DeepCopy()
	controllerutil.AddFinalizer(pod, heldFinalizer)
	if err := s.Patch(s.t.Context(), pod, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
	if err := s.Delete(s.t.Context(), pod); err != nil {
		s.t.Fatal(err)
	}
	await(s.t, inSyncTimeout, node+" to be away", func(context.Context) (bool, string, error) {
		return len(processes(pod, seidStart)) == 0, "", nil
	})
}

func (s *scenario) releasePod(node string) {
	s.t.Helper()
	pod := &corev1.Pod{}
	s.mustGet(node+"-0", pod)
	before := pod.DeepCopy()
	controllerutil.RemoveFinalizer(pod, heldFinalizer)
	if err := s.Patch(s.t.Context(), pod, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
}
