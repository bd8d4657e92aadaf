package main

import (
	"fmt"
	"slices"
	"strconv"
)

// row is one line of the table: a figure of several runs, what the public operator needed, and what it
// should not exceed.
type row struct {
	name   string
	format string
	public string
	// aim is the most that is good; rows without one are for information.
	aim *float64
	// of is the figure of one run.
	of func(*Run) float64
	// steady: it does not depend on how fast the machine is.
	steady bool
	// once: only the first of several runs has it.
	once bool
}

// spread is a figure of several runs.
type spread struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

// spreadOf is the row's figure in all runs that have it.
func (r row) spreadOf(runs []*Run) spread {
	if r.once {
		runs = runs[:1]
	}
	values := make([]float64, 0, len(runs))
	for _, run := range runs {
		values = append(values, r.of(run))
	}
	slices.Sort(values)
	// The middle one, and of an even number the lower: a value that was measured.
	return spread{Median: values[(len(values)-1)/2], Least: values[0], Most: values[len(values)-1]}
}

func (r row) missed(runs []*Run) bool { return r.aim != nil && r.spreadOf(runs).Median > *r.aim }

func (r row) show(v float64) string { return fmt.Sprintf(r.format, v) }

// range of a figure in words; empty when there is but one run.
func (r row) rangeText(s spread, runs int) string {
	if runs < 2 || r.once {
		return ""
	}
	return fmt.Sprintf("%.3g to %.3g", s.Least, s.Most)
}

func (r row) aimText() string {
	if r.aim == nil {
		return ""
	}
	return "≤ " + r.show(*r.aim)
}

const (
	inSeconds  = "%.2f s"
	inMillis   = "%.0f ms"
	inMiB      = "%.0f MiB"
	asNumber   = "%.1f"
	wholeCount = "%.0f"
)

// letThrough is within how many seconds of its sidecar's start a lost pod is let through its gate,
// whatever else is wrong with the spec (S3).
const letThrough = 0.5

// writesPerNode and writesPerChange are how many writes a new node and an image change may cost on
// average. They cost nine and seven; a wait that lasts is written as well, and of many nodes at once a
// few wait that long.
const (
	writesPerNode   = 9.2
	writesPerChange = 7.2
)

// aims are those that depend on the number of nodes.
type aims struct {
	allDone, updateAll, loaded, peak, restCPU, apiServer float64
}

// aimsBySize are for two cores with everything on them. Sizes that are not listed have none.
var aimsBySize = map[int]aims{
	100:  {allDone: 6, updateAll: 8, loaded: 65, peak: 75, restCPU: 0.2, apiServer: 60},
	500:  {allDone: 28, updateAll: 40, loaded: 95, peak: 110, restCPU: 1, apiServer: 60},
	1000: {allDone: 60, updateAll: 80, loaded: 135, peak: 160, restCPU: 2, apiServer: 65},
}

// rowsOf are the lines of the table for a number of nodes.
func rowsOf(nodes int) []row {
	n, ref := float64(nodes), references[nodes]
	fixed := func(v float64) *float64 { return &v }
	sized := func(of func(aims) float64) *float64 {
		a, known := aimsBySize[nodes]
		if !known {
			return nil
		}
		return fixed(of(a))
	}
	perMinute := func(r *Run, v float64) float64 { return v * 60 / r.Rest.Seconds }
	return []row{
		{name: "all nodes done", format: inSeconds, public: figure(ref.allDone, inSeconds), aim: sized(func(a aims) float64 { return a.allDone }),
			of: func(r *Run) float64 { return r.Load.AllDone }},
		{name: "first node done", format: inSeconds, public: figure(ref.firstDone, inSeconds), aim: fixed(1),
			of: func(r *Run) float64 { return r.Load.FirstDone }},
		{name: "creates answered", format: inSeconds, of: func(r *Run) float64 { return r.Load.Created }},
		{name: "one node's way, median", format: inSeconds, public: figure(ref.nodeMedian, inSeconds), of: func(r *Run) float64 { return r.Load.Node.Median }},
		{name: "one node's way, 95 %", format: inSeconds, public: figure(ref.nodeP95, inSeconds), of: func(r *Run) float64 { return r.Load.Node.P95 }},
		{name: "one node alone, median", format: inSeconds, public: figure(referenceSingle, inSeconds), once: true,
			of: func(r *Run) float64 { return r.Single.Done.Median }},
		{name: "writes per node until done", format: asNumber, public: figure(ref.writesToDone, asNumber), aim: fixed(writesPerNode), steady: true,
			of: func(r *Run) float64 { return float64(r.Load.ToDone.Writes) / n }},
		{name: "writes per node when settled", format: asNumber, public: figure(ref.settledWrites, asNumber), aim: fixed(writesPerNode), steady: true,
			of: func(r *Run) float64 { return float64(r.Load.Settled.Writes) / n }},
		{name: "reads per node", format: asNumber, public: figure(ref.readsPerNode, asNumber), aim: fixed(0), steady: true,
			of: func(r *Run) float64 { return float64(r.Load.Settled.Reads) / n }},
		{name: "tokens for sidecars per node", format: asNumber, aim: fixed(1), steady: true,
			of: func(r *Run) float64 { return float64(r.Load.Settled.Tokens) / n }},
		{name: "conflicts", format: wholeCount, aim: fixed(0), steady: true, of: func(r *Run) float64 { return float64(r.Load.Settled.Conflicts) }},
		{name: "tasks submitted twice", format: wholeCount, aim: fixed(0), steady: true, of: func(r *Run) float64 { return float64(r.Load.Repeated) }},
		{name: "reconciles per node", format: asNumber, of: func(r *Run) float64 { return r.Load.Reconciles / n }},
		{name: "sidecar requests per node", format: asNumber, of: func(r *Run) float64 { return float64(r.Load.SidecarRequests) / n }},
		{name: "writes per minute at rest", format: wholeCount, public: figure(ref.writesRest, wholeCount), aim: fixed(0), steady: true,
			of: func(r *Run) float64 { return perMinute(r, float64(r.Rest.Requests.Writes)) }},
		{name: "reads per minute at rest", format: wholeCount, public: "0", aim: fixed(0), steady: true,
			of: func(r *Run) float64 { return perMinute(r, float64(r.Rest.Requests.Reads)) }},
		{name: "tokens for sidecars per minute at rest", format: wholeCount, aim: fixed(max(n*0.05, 1)), steady: true,
			of: func(r *Run) float64 { return perMinute(r, float64(r.Rest.Requests.Tokens)) }},
		{name: "operator CPU per minute at rest", format: inSeconds, aim: sized(func(a aims) float64 { return a.restCPU }),
			of: func(r *Run) float64 { return perMinute(r, r.Rest.Cost.Operator) }},
		{name: "cold start: writes", format: wholeCount, public: figure(n, wholeCount), aim: fixed(0), steady: true, once: true,
			of: func(r *Run) float64 { return float64(r.Restart.Requests.Writes) }},
		{name: "cold start: all nodes looked at", format: inSeconds, once: true, of: func(r *Run) float64 { return r.Restart.Swept }},
		{name: "change while down: exec to pod delete", format: inSeconds, public: figure(ref.changeToDelete, inSeconds), aim: fixed(2), once: true,
			of: func(r *Run) float64 { return r.Restart.ChangeToDelete }},
		{name: "image change of all nodes", format: inSeconds, public: figure(ref.updateAll, inSeconds), aim: sized(func(a aims) float64 { return a.updateAll }),
			of: func(r *Run) float64 { return r.Update.AllDone }},
		{name: "image change: writes per node", format: asNumber, public: figure(ref.updateWrites, asNumber), aim: fixed(writesPerChange), steady: true,
			of: func(r *Run) float64 { return float64(r.Update.Requests.Writes) / n }},
		{name: "image change: reads per node", format: asNumber, public: figure(ref.updateReads, asNumber), aim: fixed(0), steady: true,
			of: func(r *Run) float64 { return float64(r.Update.Requests.Reads) / n }},
		{name: "lost pod: sidecar start to mark-ready, median", format: inSeconds, public: figure(referenceMarkReady, inSeconds), once: true,
			of: func(r *Run) float64 { return r.Replace.MarkReady.Median }},
		{name: "lost pod: sidecar start to mark-ready, 99 %", format: inSeconds, aim: fixed(letThrough), once: true,
			of: func(r *Run) float64 { return r.Replace.MarkReady.P99 }},
		{name: "lost pod: sidecar start to mark-ready, max", format: inSeconds, once: true, of: func(r *Run) float64 { return r.Replace.MarkReady.Max }},
		{name: "the same with an invalid override, median", format: inSeconds, once: true, of: func(r *Run) float64 { return r.Replace.InvalidSpec.Median }},
		{name: "the same with an invalid override, 99 %", format: inSeconds, aim: fixed(letThrough), once: true,
			of: func(r *Run) float64 { return r.Replace.InvalidSpec.P99 }},
		{name: "image change of one node, median", format: inSeconds, public: "0.30 s", once: true, of: func(r *Run) float64 { return r.Hang.Without.Median }},
		{name: "the same beside a hanging sidecar, above 1.5 times that", format: inSeconds, public: referenceHang, aim: fixed(0.1), once: true,
			of: func(r *Run) float64 { return max(0, r.Hang.With.Median-1.5*r.Hang.Without.Median) }},
		{name: "operator memory without nodes", format: inMiB, public: "51 MiB", once: true, of: func(r *Run) float64 { return r.Memory.Idle }},
		{name: "of that, its program file", format: inMiB, once: true, of: func(r *Run) float64 { return r.Memory.Program }},
		{name: "operator memory after the load", format: inMiB, public: figure(ref.loaded, inMiB), aim: sized(func(a aims) float64 { return a.loaded }),
			of: func(r *Run) float64 { return r.Memory.Loaded }},
		{name: "operator memory, peak of all steps", format: inMiB, public: figure(ref.peak, inMiB), aim: sized(func(a aims) float64 { return a.peak }),
			of: func(r *Run) float64 { return r.Memory.Peak }},
		{name: "API server CPU per new node", format: inMillis, public: figure(ref.apiCPU*1000/n, inMillis), aim: sized(func(a aims) float64 { return a.apiServer }),
			of: func(r *Run) float64 { return r.Load.Cost.APIServer * 1000 / n }},
		{name: "operator CPU per new node", format: inMillis, public: figure(ref.operatorCPU*1000/n, inMillis),
			of: func(r *Run) float64 { return r.Load.Cost.Operator * 1000 / n }},
		{name: "kube-controller-manager CPU per new node", format: inMillis, of: func(r *Run) float64 { return r.Load.Cost.ControllerManager * 1000 / n }},
		{name: "etcd CPU per new node", format: inMillis, of: func(r *Run) float64 { return r.Load.Cost.Etcd * 1000 / n }},
		{name: "kubelets' and sidecars' CPU per new node", format: inMillis, of: func(r *Run) float64 { return r.Load.Cost.Bench * 1000 / n }},
	}
}

// figure is a value of the public operator; empty when there is none.
func figure(v float64, format string) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// missedAims names what the runs with one number of nodes did not reach.
func missedAims(runs []*Run) []string {
	var missed []string
	for _, r := range rowsOf(runs[0].Nodes) {
		if r.missed(runs) {
			missed = append(missed, strconv.Itoa(runs[0].Nodes)+" nodes: "+r.name+": "+r.show(r.spreadOf(runs).Median)+", aim "+r.aimText())
		}
	}
	return missed
}
