package crashtest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// BenchmarkIdleMemory prints the resident memory of a sidecar that has done a
// little and now waits, in MB. The budget is 30.
func BenchmarkIdleMemory(b *testing.B) {
	s := Start(b, b.TempDir())
	for b.Loop() {
		s.Run(api.MarkReady, nil)
	}
	b.ReportMetric(float64(residentKB(b, s.Pid(), "VmRSS:"))/1024, "MB-rss")
	b.ReportMetric(float64(residentKB(b, s.Pid(), "RssAnon:"))/1024, "MB-anon")
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
