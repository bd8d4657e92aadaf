package crashtest

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// idleFor is how long the sidecar is watched: a few of its own looks at the node.
const idleFor = 40 * time.Second

// BenchmarkIdleMemory prints the resident memory of a sidecar that has done a
// little and now waits, in MB: on average, and at most for the moment of a look.
// The budget is 20 for both. MB-peak is that of the start, which touches most of
// the binary.
func BenchmarkIdleMemory(b *testing.B) {
	s := Start(b, b.TempDir())
	for b.Loop() {
		s.Run(api.MarkReady, nil)
	}
	var sum, most, samples, anon float64
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	<-time.After(5 * time.Second) // what it did is given back by then
	for began := time.Now(); time.Since(began) < idleFor; <-tick.C {
		rss := float64(residentKB(b, s.Pid(), "VmRSS:")) / 1024
		sum, most, samples = sum+rss, max(most, rss), samples+1
		anon = max(anon, float64(residentKB(b, s.Pid(), "RssAnon:"))/1024)
	}
	b.ReportMetric(sum/samples, "MB-rss")
	b.ReportMetric(most, "MB-rss-most")
	b.ReportMetric(anon, "MB-anon")
	b.ReportMetric(float64(residentKB(b, s.Pid(), "VmHWM:"))/1024, "MB-peak")
}

// residentKB reads one line of the kernel's account of a process.
func residentKB(b *testing.B, pid int, line string) int {
	b.Helper()
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		b.Fatal(err)
	}
	for text := range strings.Lines(string(raw)) {
		if fields := strings.Fields(text); len(fields) > 1 && fields[0] == line {
			kb, err := strconv.Atoi(fields[1])
			if err != nil {
				b.Fatal(err)
			}
			return kb
		}
	}
	b.Fatalf("no %s in the status of process %d", line, pid)
	return 0
}
