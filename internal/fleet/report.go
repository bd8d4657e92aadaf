package fleet

import (
	"fmt"
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// report is a status on its way: what the pass knows, and the fleet it is written to.
type report struct {
	snd      *v1alpha1.SeiNodeDeployment
	before   *v1alpha1.SeiNodeDeployment
	cfg      *platform.Config
	now      time.Time
	decision *Decision

	members []Member
	// surplus is how many nodes are still to be removed.
	surplus    int
	nodes      []Node
	ceremony   Ceremony
	networking *Networking
	err        error
}

// Report writes into the status of snd what a pass saw and did, and returns after how long
// it says something else although nothing happens; zero means never. What could not be
// observed stays as it was.
func (p *Pass) Report(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) time.Duration {
	s := &report{
		snd: snd, before: p.Observed.Fleet, cfg: cfg, now: p.Observed.Now, decision: &p.Decision,
		members: p.Result.Members, surplus: len(p.Observed.Surplus), nodes: p.Result.Nodes, ceremony: p.Decision.Ceremony,
		networking: &p.Result.Networking, err: p.Result.Err,
	}
	var recheck time.Duration
	if s.nodes != nil {
		s.deriveNodes()
		recheck = s.deriveRollout()
	}
	if s.networking.Synced {
		s.deriveNetworking()
	}
	s.deriveConditions()
	EnterPhase(snd, s.phase(), s.now)
	if s.err == nil {
		// An edit that could not be acted on yet is not observed.
		snd.Status.ObservedGeneration = snd.Generation
	}
	return recheck
}

// deriveNodes writes which nodes there are and how they do.
func (s *report) deriveNodes() {
	status := &s.snd.Status
	status.Selector = Selector(s.snd.Name)
	status.Nodes, status.IncumbentNodes = nil, nil
	status.ReadyReplicas, status.UpdatedReplicas = 0, 0
	for i := range s.members {
		live := s.members[i].own()
		if live == nil {
			continue
		}
		ready := IsReady(live) && s.nodes[i].NotInGenesis == ""
		status.Nodes = append(status.Nodes, v1alpha1.FleetNode{
			Name: live.Name, Phase: live.Status.Phase, Ready: ready, CurrentImage: live.Status.CurrentImage,
			Synced: IsReady(live) || live.Status.Phase == v1alpha1.NodeRunning && s.wasSynced(live.Name),
		})
		status.IncumbentNodes = append(status.IncumbentNodes, live.Name)
		if ready {
			status.ReadyReplicas++
		}
		if s.nodes[i].Current && s.nodes[i].InForce {
			status.UpdatedReplicas++
		}
	}
	status.Replicas = int32(len(status.Nodes))
}

// wasSynced reports whether a node was in sync before.
func (s *report) wasSynced(name string) bool {
	return slices.ContainsFunc(s.before.Status.Nodes, func(n v1alpha1.FleetNode) bool { return n.Name == name && n.Synced })
}

// deriveRollout writes how far a change has come, and returns after how long it has stood still
// for too long, or another node counts. A paused fleet's rollout stands where it was.
func (s *report) deriveRollout() time.Duration {
	status := &s.snd.Status
	status.NextUpgrade = s.nextUpgrade()
	if s.snd.Spec.Paused {
		status.Rollout = Pause(s.before.Status.Rollout, s.now)
		return 0
	}
	goal := Goal{s.decision.TargetHash, upgradeProgress(s.decision.Upgrade, s.members, s.nodes)}
	broughtTo := s.before.Status.TemplateHash
	if broughtTo == s.reachedHash() {
		broughtTo = s.decision.TargetHash
	}
	status.Rollout = Track(s.before.Status.Rollout, broughtTo, goal, s.nodes, s.now)
	if status.Rollout == nil {
		status.TemplateHash = s.decision.TargetHash
		if slices.ContainsFunc(s.nodes, func(n Node) bool { return n.Held }) {
			status.TemplateHash = s.reachedHash()
		}
		return 0
	}
	_, recheck := StalledSince(status.Rollout, ProgressDeadline(s.snd), s.now)
	for _, n := range s.nodes {
		if n.Soak > 0 && (recheck == 0 || n.Soak < recheck) {
			recheck = n.Soak
		}
	}
	return recheck
}

// reachedHash identifies a template that a rollout brought to all nodes but those that the partition
// holds back. Another partition makes it another one, so that the nodes that are released begin a rollout,
// and a node that falls out of sync later begins none.
func (s *report) reachedHash() string {
	return fmt.Sprintf("%s@%d", s.decision.TargetHash, Partition(s.snd))
}

// nextUpgrade is the upgrade that is ahead, with the image that the template has for it.
func (s *report) nextUpgrade() *v1alpha1.NextUpgrade {
	next := s.decision.Next
	if next == nil {
		return nil
	}
	named := &v1alpha1.NextUpgrade{ScheduledUpgrade: *next}
	if at := entryOf(&s.snd.Spec.Template.Spec, next.Name); at >= 0 {
		named.Image = s.snd.Spec.Template.Spec.Upgrades[at].Image
	}
	return named
}
