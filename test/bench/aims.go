package main

import (
	"fmt"
	"strconv"
)

// row is one line of the table: a figure, what the public operator needed, and what
// it should not exceed.
type row struct {
	name   string
	value  float64
	format string
	public string
	// aim is the most that is good; rows without one are for information.
	aim *float64
}

func (r row) missed() bool { return r.aim != nil && r.value > *r.aim }

func (r row) show(v float64) string { return fmt.Sprintf(r.format, v) }

func (r row) aimText() string {
	if r.aim == nil {
		return ""
	}
	return "≤ " + r.show(*r.aim)
}

const (
	inSeconds  = "%.2f s"
	inMiB      = "%.0f MiB"
	asNumber   = "%.1f"
	wholeCount = "%.0f"
)

// letThrough is within how many seconds of its sidecar's start a lost pod is let through its gate,
// whatever else is wrong with the spec (S3).
const letThrough = 0.5

// writesPerChange is how many writes a new node and an image change may cost on average. Each costs
// nine; a wait of more than three seconds is written as well, and of many nodes at once a few wait
// that long.
const writesPerChange = 9.2

// rowsOf judges a run.
func rowsOf(r *Run) []row {
	n := float64(r.Nodes)
	ref := references[r.Nodes]
	l, u := &r.Load, &r.Update
	none, aim := (*float64)(nil), func(v float64) *float64 { return &v }
	return []row{
		{"all nodes done", l.AllDone, inSeconds, figure(ref.allDone, inSeconds), aim(perNode(n, 0.04, 5))},
		{"first node done", l.FirstDone, inSeconds, figure(ref.firstDone, inSeconds), aim(2)},
		{"creates answered", l.Created, inSeconds, "", none},
		{"one node's way, median", l.Node.Median, inSeconds, figure(ref.nodeMedian, inSeconds), none},
		{"one node's way, 95 %", l.Node.P95, inSeconds, figure(ref.nodeP95, inSeconds), none},
		{"one node alone, median", r.Single.Done.Median, inSeconds, figure(referenceSingle, inSeconds), none},
		{"writes per node until done", float64(l.ToDone.Writes) / n, asNumber, figure(ref.writesToDone, asNumber), aim(writesPerChange)},
		{"writes per node when settled", float64(l.Settled.Writes) / n, asNumber, figure(ref.settledWrites, asNumber), aim(writesPerChange)},
		{"reads per node", float64(l.Settled.Reads) / n, asNumber, figure(ref.readsPerNode, asNumber), aim(0)},
		{"tokens for sidecars per node", float64(l.Settled.Tokens) / n, asNumber, "", aim(1)},
		{"conflicts", float64(l.Settled.Conflicts), wholeCount, "", aim(0)},
		{"tasks submitted twice", float64(l.Repeated), wholeCount, "", aim(0)},
		{"reconciles per node", l.Reconciles / n, asNumber, "", none},
		{"sidecar requests per node", float64(l.SidecarRequests) / n, asNumber, "", none},
		{"writes per minute at rest", float64(r.Rest.Requests.Writes) * 60 / r.Rest.Seconds, wholeCount, figure(ref.writesRest, wholeCount), aim(0)},
		{"reads per minute at rest", float64(r.Rest.Requests.Reads) * 60 / r.Rest.Seconds, wholeCount, "0", aim(0)},
		{"tokens for sidecars per minute at rest", float64(r.Rest.Requests.Tokens) * 60 / r.Rest.Seconds, wholeCount, "", aim(perNode(n, 0.05, 1))},
		{"operator CPU per minute at rest", r.Rest.Cost.Operator * 60 / r.Rest.Seconds, inSeconds, "", aim(perNode(n, 0.002, 0.4))},
		{"cold start: writes", float64(r.Restart.Requests.Writes), wholeCount, figure(n, wholeCount), aim(0)},
		{"cold start: all nodes looked at", r.Restart.Swept, inSeconds, "", none},
		{"change while down: exec to pod delete", r.Restart.ChangeToDelete, inSeconds, figure(ref.changeToDelete, inSeconds), aim(2)},
		{"image change of all nodes", u.AllDone, inSeconds, figure(ref.updateAll, inSeconds), aim(perNode(n, 0.06, 6))},
		{"image change: writes per node", float64(u.Requests.Writes) / n, asNumber, figure(ref.updateWrites, asNumber), aim(writesPerChange)},
		{"image change: reads per node", float64(u.Requests.Reads) / n, asNumber, figure(ref.updateReads, asNumber), aim(0)},
		{"lost pod: sidecar start to mark-ready, median", r.Replace.MarkReady.Median, inSeconds, figure(referenceMarkReady, inSeconds), none},
		{"lost pod: sidecar start to mark-ready, 99 %", r.Replace.MarkReady.P99, inSeconds, "", aim(letThrough)},
		{"lost pod: sidecar start to mark-ready, max", r.Replace.MarkReady.Max, inSeconds, "", none},
		{"the same with an invalid override, median", r.Replace.InvalidSpec.Median, inSeconds, "", none},
		{"the same with an invalid override, 99 %", r.Replace.InvalidSpec.P99, inSeconds, "", aim(letThrough)},
		{"image change of one node, median", r.Hang.Without.Median, inSeconds, "0.30 s", none},
		{"the same beside a hanging sidecar", r.Hang.With.Median, inSeconds, referenceHang, aim(1.5*r.Hang.Without.Median + 0.1)},
		{"operator memory without nodes", r.Memory.Idle, inMiB, "51 MiB", none},
		{"operator memory after the load", r.Memory.Loaded, inMiB, figure(ref.loaded, inMiB), aim(120)},
		{"operator memory, peak of all steps", r.Memory.Peak, inMiB, figure(ref.peak, inMiB), aim(150)},
		{"operator CPU, load", l.Cost.Operator, inSeconds, figure(ref.operatorCPU, inSeconds), none},
		{"API server CPU, load", l.Cost.APIServer, inSeconds, figure(ref.apiCPU, inSeconds), none},
		{"kube-controller-manager CPU, load", l.Cost.ControllerManager, inSeconds, "", none},
		{"etcd CPU, load", l.Cost.Etcd, inSeconds, "", none},
		{"kubelets' and sidecars' CPU, load", l.Cost.Bench, inSeconds, "", none},
	}
}

// perNode is an aim that grows with the nodes, but is never below a floor.
func perNode(n, each, floor float64) float64 { return max(n*each, floor) }

// figure is a value of the public operator; empty when there is none.
func figure(v float64, format string) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// missedAims names what a run did not reach.
func missedAims(nodes int, rows []row) []string {
	var missed []string
	for _, r := range rows {
		if r.missed() {
			missed = append(missed, strconv.Itoa(nodes)+" nodes: "+r.name+": "+r.show(r.value)+", aim "+r.aimText())
		}
	}
	return missed
}
