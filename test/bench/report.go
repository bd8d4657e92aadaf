package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Report is everything a bench found out; it is what the JSON file holds. Times are
// in seconds, memory in MiB.
type Report struct {
	Time time.Time `json:"time"`
	CPUs int       `json:"cpus"`
	Go   string    `json:"go"`
	// Speed is what the machine can do, in rounds of a fixed piece of work per second.
	Speed float64 `json:"speed"`
	// WritesLoad is the load average before the part about writes.
	WritesLoad float64     `json:"writesLoad,omitempty"`
	Writes     []writeCost `json:"writes,omitempty"`
	Runs       []*Run      `json:"runs,omitempty"`
	Busy       *Busy       `json:"busy,omitempty"`
	Growth     []*Growth   `json:"growth,omitempty"`
}

// Run is what was measured with one number of nodes.
type Run struct {
	Nodes      int    `json:"nodes"`
	Kubernetes string `json:"kubernetes"`
	// LoadAverage of the machine before the run: other work makes times longer.
	LoadAverage float64 `json:"loadAverage"`

	Single  Single  `json:"single"`
	Load    Load    `json:"load"`
	Rest    Rest    `json:"rest"`
	Restart Restart `json:"restart"`
	Update  Update  `json:"update"`
	Replace Replace `json:"replace"`
	Hang    Hang    `json:"hang"`
	Memory  Memory  `json:"memory"`
}

// Times sums up how long many things took.
type Times struct {
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
	Count  int     `json:"count"`
}

// Single is about nodes created one at a time in an empty cluster.
type Single struct {
	Done Times `json:"done"`
	// Requests of all of them together.
	Requests Requests `json:"requests"`
}

// Load is about the creation of all nodes at once.
type Load struct {
	// Created is when the last create was answered, Running when the last node
	// was, FirstDone and AllDone when nodes were in sync.
	Created   float64 `json:"created"`
	Running   float64 `json:"running"`
	FirstDone float64 `json:"firstDone"`
	AllDone   float64 `json:"allDone"`
	// Node is the time from a node's creation until it was done.
	Node Times `json:"node"`
	// ToDone are the requests until the last node was done, Settled all up to
	// a moment later.
	ToDone  Requests `json:"toDone"`
	Settled Requests `json:"settled"`
	// Reconciles, and how many of them found a conflict.
	Reconciles float64 `json:"reconciles"`
	Conflicts  float64 `json:"statusConflicts"`
	// SidecarRequests is everything asked of sidecars, Tasks what was submitted,
	// Repeated what was submitted more than once.
	SidecarRequests int  `json:"sidecarRequests"`
	Tasks           int  `json:"tasks"`
	Repeated        int  `json:"repeatedTasks"`
	Cost            Cost `json:"cost"`
	// Everybody is what the API server was asked to write per node, by verb and resource, whoever
	// asked: the operator, the controllers of Kubernetes, the kubelets.
	Everybody map[string]float64 `json:"everybody"`
}

// Rest is about settled nodes that nobody touches.
type Rest struct {
	Seconds         float64  `json:"seconds"`
	Requests        Requests `json:"requests"`
	Reconciles      float64  `json:"reconciles"`
	SidecarRequests int      `json:"sidecarRequests"`
	Cost            Cost     `json:"cost"`
}

// Restart is about an operator that starts where all nodes are settled.
type Restart struct {
	// Swept is from exec until every node was looked at.
	Swept    float64  `json:"swept"`
	Requests Requests `json:"requests"`
	// ChangeToDelete is from exec until the pod of the node was deleted whose
	// image had been changed while no operator ran.
	ChangeToDelete float64 `json:"changeToDelete"`
}

// Update is about new images for all nodes at once.
type Update struct {
	FirstDone float64  `json:"firstDone"`
	AllDone   float64  `json:"allDone"`
	Node      Times    `json:"node"`
	Requests  Requests `json:"requests"`
	Cost      Cost     `json:"cost"`
}

// Replace is about lost pods whose successors start slowly. The times are from the start of
// the sidecar's container until the operator asked for the gate to be opened.
type Replace struct {
	SlowStart float64 `json:"slowStart"`
	MarkReady Times   `json:"markReady"`
	// InvalidSpec is the same of nodes whose newest spec cannot be acted on.
	InvalidSpec Times `json:"invalidSpec"`
}

// Hang is about image changes of healthy nodes, one at a time, without and with
// another node whose sidecar hangs.
type Hang struct {
	Without Times `json:"without"`
	With    Times `json:"with"`
}

// Cost is CPU time. All of these share the machine, and with it the time that things
// take.
type Cost struct {
	Operator          float64 `json:"operator"`
	APIServer         float64 `json:"apiServer"`
	ControllerManager float64 `json:"controllerManager"`
	Etcd              float64 `json:"etcd"`
	// Bench is this process: the kubelets, the sidecars, and the looking on.
	Bench float64 `json:"bench"`
}

// Memory is resident memory in MiB.
type Memory struct {
	// Idle is the operator's without nodes, Loaded that after the load, Peak
	// the highest of all its processes.
	Idle float64 `json:"idle"`
	// Program is what of Idle is the program's file, which the kernel can drop and read again.
	Program       float64 `json:"program"`
	Loaded        float64 `json:"loaded"`
	LoadedPeak    float64 `json:"loadedPeak"`
	Peak          float64 `json:"peak"`
	APIServerPeak float64 `json:"apiServerPeak"`
}

func newReport() *Report {
	return &Report{Time: time.Now().UTC().Truncate(time.Second), CPUs: runtime.NumCPU(), Go: runtime.Version(), Speed: speed()}
}

func (r *Report) write(path string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the figures: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	return nil
}

// timesOf sums up durations.
func timesOf(all []time.Duration) Times {
	if len(all) == 0 {
		return Times{}
	}
	sorted := slices.Sorted(slices.Values(all))
	// The smallest value that at least this part does not exceed.
	at := func(percent int) float64 { return sorted[(len(sorted)*percent+99)/100-1].Seconds() }
	return Times{Median: at(50), P95: at(95), P99: at(99), Max: at(100), Count: len(all)}
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
