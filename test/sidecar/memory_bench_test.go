package sidecar_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/crashtest"
	"github.com/sei-operator/sei-operator/test/elapse"
)

const (
	// memoryBudget is for the sidecar and the gate together, in MB.
	memoryBudget = 20
	// settles is how long a sidecar takes to give back what its tasks have left behind.
	settles = 40 * time.Second
	// idleFor is a few of the sidecar's own looks at its node.
	idleFor = 40 * time.Second
)

// BenchmarkIdleMemory measures the sidecar and the gate of a validator, side by side, when
// they have brought it up and moved a snapshot: at rest, with the sidecar's own looks, and
// right after somebody has looked at the node and scraped it, once a second. It fails when they take more
// than the budget at rest, for however short a moment. The time is that of a look and a scrape.
func BenchmarkIdleMemory(b *testing.B) {
	// A copy of its own: pages that are shared with strangers would count for less.
	dir := filepath.Join(b.TempDir(), "bin")
	if out, err := exec.CommandContext(b.Context(), crashtest.Binary(b), "install", dir).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	b.Setenv(crashtest.BinaryEnv, filepath.Join(dir, "sidecar"))
	v := newNode(b, "memory-1", "v0", "file://"+b.TempDir())
	ceremony([]*node{v}, snapshotting)
	v.start()
	v.awaitHeight(10)
	do[any](v, api.SnapshotUploadOnce, nil)
	gate := latest(v.pod.starts)
	elapse.For(b.Context(), settles)

	var rest, looks usage
	for began := time.Now(); time.Since(began) < idleFor; elapse.For(b.Context(), 100*time.Millisecond) {
		rest.add(memory(b, v.Pid(), gate))
	}
	for b.Loop() {
		v.document()
		v.gauges()
		b.StopTimer()
		looks.add(memory(b, v.Pid(), gate))
		elapse.For(b.Context(), time.Second)
		b.StartTimer()
	}
	b.ReportMetric(rest.mean(), "MB-rest")
	b.ReportMetric(rest.most, "MB-rest-most")
	b.ReportMetric(looks.most, "MB-look-most")
	if rest.most > memoryBudget {
		b.Fatalf("the sidecar and the gate take %.1f MB together, at most %d are allowed: %s", rest.most, memoryBudget, rest.atMost)
	}
}

// usage is memory over time, in MB.
type usage struct {
	sum, most, samples float64
	// atMost are its kinds, process by process, when it was most.
	atMost string
}

func (u *usage) add(mb float64, kinds string) {
	if mb > u.most {
		u.most, u.atMost = mb, kinds
	}
	u.sum, u.samples = u.sum+mb, u.samples+1
}

func (u *usage) mean() float64 { return u.sum / u.samples }

// memory is what processes take together: what each has for itself, and its share of what it
// shares.
func memory(b *testing.B, pids ...int) (mb float64, kinds string) {
	b.Helper()
	for _, pid := range pids {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			fields := strings.Fields(line)
			switch fields[0] {
			case "Pss:":
				kb, err := strconv.ParseFloat(fields[1], 64)
				if err != nil {
					b.Fatal(err)
				}
				mb += kb / 1024
			case "Pss_Anon:", "Pss_File:":
				kinds += strings.Join(fields, " ") + "; "
			}
		}
	}
	return mb, kinds
}
