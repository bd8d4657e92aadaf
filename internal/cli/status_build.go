package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/cli/live"
	"github.com/sei-operator/sei-operator/internal/render"
)

// seen is all that `status` has looked at.
type seen struct {
	fleets   []*seiv1.SeiNodeDeployment
	nodes    []*seiv1.SeiNode
	pods     map[types.NamespacedName][]*corev1.Pod // by node
	claims   map[types.NamespacedName]*corev1.PersistentVolumeClaim
	facts    map[types.NamespacedName]*live.Facts
	verdicts map[types.NamespacedName]live.Verdict
	notes    []string
}

// report is what is printed of it.
func (s *seen) report(now time.Time) *StatusReport {
	report := &StatusReport{Notes: slices.Clone(s.notes)}
	members := map[types.NamespacedName]bool{}
	for _, fleet := range s.fleets {
		f := fleetStatus(fleet, now)
		for _, node := range s.nodes {
			if node.Namespace == fleet.Namespace && node.Labels[seiv1.LabelDeployment] == fleet.Name {
				f.Nodes = append(f.Nodes, s.nodeStatus(node, now))
				members[client.ObjectKeyFromObject(node)] = true
			}
		}
		slices.SortStableFunc(f.Nodes, func(a, b NodeStatus) int { return cmp.Compare(ordinal(a.Name), ordinal(b.Name)) })
		f.AppHashes, f.Upgrade = agreement(f.Nodes), upgradeOfFleet(fleet, f.Nodes, now)
		report.Fleets = append(report.Fleets, f)
	}
	for _, node := range s.nodes {
		if !members[client.ObjectKeyFromObject(node)] {
			report.Nodes = append(report.Nodes, s.nodeStatus(node, now))
		}
	}
	for _, n := range report.all() {
		report.Notes = append(report.Notes, unexplained(n)...)
	}
	return report
}

// ordinal is the number that a fleet's node is named with.
func ordinal(name string) int {
	n, _ := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	return n
}

func agreement(nodes []NodeStatus) string {
	agree, differ := 0, 0
	for _, n := range nodes {
		switch n.AppHash {
		case live.Agrees:
			agree++
		case live.Differs:
			differ++
		}
	}
	switch {
	case differ > 0:
		return fmt.Sprintf("%d %s", differ, live.Differs)
	case agree > 0:
		return fmt.Sprintf("%d/%d %s", agree, len(nodes), live.Agrees)
	}
	return ""
}

func fleetStatus(fleet *seiv1.SeiNodeDeployment, now time.Time) FleetStatus {
	f := FleetStatus{
		Namespace: fleet.Namespace, Name: fleet.Name, Chain: fleet.Spec.Template.Spec.ChainID, Phase: string(fleet.Status.Phase),
		Ready: fleet.Status.ReadyReplicas, Replicas: fleet.Spec.Replicas, Image: fleet.Spec.Template.Spec.Image,
		Plan: planDetail(fleet.Status.Plan, now),
	}
	if r := fleet.Status.Rollout; r != nil {
		f.Rollout = &RolloutDetail{
			Reason: string(r.Reason), Updated: r.Updated, Total: r.Total, Elapsed: elapsed(&r.StartedAt, now),
			WaitingOn: r.WaitingOn, Paused: fleet.Spec.Paused,
		}
	}
	return f
}

func (s *seen) nodeStatus(node *seiv1.SeiNode, now time.Time) NodeStatus {
	key := client.ObjectKeyFromObject(node)
	n := NodeStatus{
		Namespace: node.Namespace, Name: node.Name, Chain: node.Spec.ChainID, Role: node.Spec.Role(), Phase: string(node.Status.Phase),
		TargetImage: targetImage(node), Live: s.facts[key], AppHash: s.verdicts[key], Plan: planDetail(node.Status.Plan, now),
	}
	if ready := meta.FindStatusCondition(node.Status.Conditions, seiv1.ConditionReady); ready != nil {
		n.Ready, n.Reason, n.Message = string(ready.Status), ready.Reason, ready.Message
	}
	for _, pod := range s.pods[key] {
		n.Pods = append(n.Pods, podDetail(pod, now))
		if pod.Name == render.PodName(node) {
			n.Image = render.SeidImage(pod.Spec)
		}
	}
	n.DiskDaysLeft, n.diskNew = s.daysLeft(node, n.Live, now)
	n.Upgrade = upgradeOf(node, factsOf(&n).Upgrade, now)
	return n
}

// unexplained names the facts that are missing although the node has answered.
func unexplained(n *NodeStatus) []string {
	var notes []string
	if n.Live != nil && n.Live.App != nil && n.AppHash == live.Unchecked {
		notes = append(notes, n.Name+": app hash: no other node that is shown could be compared with")
	}
	if n.Live != nil && n.Live.Disk != nil && n.DiskDaysLeft == nil && !n.diskNew {
		notes = append(notes, n.Name+": days left: its PersistentVolumeClaim was not found")
	}
	return notes
}

// daysLeft is how long the disk lasts, or that the volume is too young to tell.
func (s *seen) daysLeft(node *seiv1.SeiNode, facts *live.Facts, now time.Time) (days *int64, isNew bool) {
	claim := s.claims[types.NamespacedName{Namespace: node.Namespace, Name: render.ClaimName(node)}]
	if facts == nil || facts.Disk == nil || claim == nil {
		return nil, false
	}
	left := facts.Disk.Left(now.Sub(claim.CreationTimestamp.Time))
	if left <= 0 {
		return nil, true
	}
	whole := int64(left / (24 * time.Hour))
	return &whole, false
}

// targetImage is the image that the node should run: that of its spec, or of the chain upgrade that is
// in force.
func targetImage(node *seiv1.SeiNode) string {
	if plan := node.Status.Plan; plan != nil && plan.Target != nil && plan.Target.Generation == node.Generation && plan.Target.Image != "" {
		return plan.Target.Image
	}
	if upgrade := node.Status.Upgrade; upgrade != nil && upgrade.Entry != "" && upgrade.Image != "" {
		return upgrade.Image
	}
	return node.Spec.Image
}
