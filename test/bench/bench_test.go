package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

func TestTimesOf_Percentiles_AreValuesThatOccurred(t *testing.T) {
	all := make([]time.Duration, 0, 200)
	for i := range 200 {
		all = append(all, time.Duration(200-i)*time.Second)
	}
	want := Times{Median: 100, P95: 190, P99: 198, Max: 200, Count: 200}
	if diff := cmp.Diff(want, timesOf(all)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Times{Median: 1, P95: 1, P99: 1, Max: 1, Count: 1}, timesOf([]time.Duration{time.Second})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Times{}, timesOf(nil)); diff != "" {
		t.Error(diff)
	}
}

func TestAuditLog_Window_CountsByVerbAndResource(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	line := func(after time.Duration, verb, resource, subresource string, code int) string {
		return fmt.Sprintf(`{"verb":%q,"objectRef":{"resource":%q,"subresource":%q},"responseStatus":{"code":%d},"requestReceivedTimestamp":%q}`+"\n",
			verb, resource, subresource, code, at.Add(after).Format(time.RFC3339Nano))
	}
	log := &auditLog{path: filepath.Join(t.TempDir(), "audit.log")}
	if found, err := log.between(at, at.Add(time.Hour)); err != nil || len(found) != 0 {
		t.Fatalf("a log that is not there: %v, %v", found, err)
	}
	content := line(0, "create", "events", "", 201) + line(time.Second, "patch", "seinodes", "status", 409) +
		line(2*time.Second, "get", "statefulsets", "", 200) + line(2*time.Second, "create", "serviceaccounts", "token", 201) +
		line(3*time.Second, "delete", "pods", "", 200)
	half := len(content) - 10
	write := func(text string) {
		if err := os.WriteFile(log.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(content[:half]) // the last line is being written
	if found, err := log.between(at, at.Add(time.Hour)); err != nil || len(found) != 4 {
		t.Fatalf("half a line: %v, %v", found, err)
	}
	write(content)
	found, err := log.between(at.Add(time.Second), at.Add(4*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	want := Requests{Writes: 2, Reads: 1, Conflicts: 1, Tokens: 1, ByKind: map[string]int{
		"patch seinodes/status": 1, "get statefulsets": 1, "delete pods": 1, "create serviceaccounts/token": 1,
	}}
	if diff := cmp.Diff(want, count(found)); diff != "" {
		t.Error(diff)
	}
	if deleted, ok := firstPodDelete(found); !ok || !deleted.Equal(at.Add(3*time.Second)) {
		t.Errorf("the pod was deleted at %s, %t", deleted, ok)
	}
}

func TestProc_Files_AreUnderstood(t *testing.T) {
	stat := "42 (a (strange) name) S 1 1 1 0 -1 0 0 0 0 0 150 50 0 0 20 0 1 0 0 0 0"
	if cpu, err := parseCPU([]byte(stat)); err != nil || cpu != 2*time.Second {
		t.Errorf("CPU time is %s, %v, want 2s", cpu, err)
	}
	if _, err := parseCPU([]byte("nonsense")); err == nil {
		t.Error("nonsense is a CPU time")
	}
	status := []byte("Name:\tmanager\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n")
	if now, err := parseMemory(status, "VmRSS"); err != nil || now != 1<<20 {
		t.Errorf("memory is %d, %v, want 1 MiB", now, err)
	}
	if _, err := parseMemory(status, "VmSwap"); err == nil {
		t.Error("a field that is not there has a value")
	}
	if cpu, err := cpuTime(os.Getpid()); err != nil || cpu < 0 {
		t.Errorf("our own CPU time is %s, %v", cpu, err)
	}
	if now, peak, err := memory(os.Getpid()); err != nil || now <= 0 || peak < now {
		t.Errorf("our own memory is %d, at its peak %d, %v", now, peak, err)
	}
}

func TestSumOf_Series_AreChosenByNameAndLabels(t *testing.T) {
	text := []byte("# HELP a\na{x=\"1\",y=\"2\"} 3\na{x=\"1\",y=\"3\"} 4\nab{x=\"1\"} 100\na 0.5\n")
	for _, tc := range []struct {
		labels []string
		want   float64
	}{{nil, 7.5}, {[]string{`x="1"`}, 7}, {[]string{`x="1"`, `y="3"`}, 4}, {[]string{`x="2"`}, 0}} {
		if got := sumOf(text, "a", tc.labels...); got != tc.want {
			t.Errorf("the sum of %v is %g, want %g", tc.labels, got, tc.want)
		}
	}
}

func TestMarkReadyDelays_OnlyReplacedPodsAndFirstRequests_Count(t *testing.T) {
	at := time.Unix(1000, 0)
	starts := map[types.UID]time.Time{"a": at, "b": at.Add(time.Second), "waits": at}
	asked := []sidecarsim.Request{
		{Pod: "old", Type: api.MarkReady, Time: at.Add(time.Second)},
		{Pod: "a", Type: api.ConfigApply, Time: at.Add(time.Second)},
		{Pod: "a", Type: api.MarkReady, Time: at.Add(2 * time.Second)},
		{Pod: "a", Type: api.MarkReady, Time: at.Add(9 * time.Second)},
		{Pod: "b", Type: api.MarkReady, Time: at.Add(4 * time.Second)},
	}
	if diff := cmp.Diff([]time.Duration{2 * time.Second, 3 * time.Second}, markReadyDelays(starts, asked)); diff != "" {
		t.Error(diff)
	}
}

func TestSubmissions_SameTaskTwice_IsRepeated(t *testing.T) {
	asked := []sidecarsim.Request{
		{Method: "POST", Type: api.MarkReady, Task: "1"}, {Method: "GET", Path: "/v0/healthz"},
		{Method: "POST", Type: api.MarkReady, Task: "1"}, {Method: "POST", Type: api.MarkReady, Task: "2"},
	}
	if all, repeated := submissions(asked); all != 3 || repeated != 1 {
		t.Errorf("%d tasks, %d repeated, want 3 and 1", all, repeated)
	}
}

func TestTracker_LastNodeMeetsTheCondition_EndsTheWait(t *testing.T) {
	tr := &tracker{expected: map[*expectation]bool{}}
	e := tr.expect([]string{"a", "b"}, isRunning)
	node := func(name string, phase v1alpha1.SeiNodePhase) *v1alpha1.SeiNode {
		return &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1alpha1.SeiNodeStatus{Phase: phase}}
	}
	tr.seen(node("a", v1alpha1.NodeRunning))
	tr.seen(node("other", v1alpha1.NodeRunning))
	tr.seen(node("b", v1alpha1.NodePending))
	if _, err := tr.wait(t.Context(), e, time.Millisecond, nil); err == nil || !strings.Contains(err.Error(), "1 of 2") || !strings.Contains(err.Error(), "b") {
		t.Errorf("waiting for b: %v", err)
	}
	e = tr.expect([]string{"b"}, isRunning)
	tr.seen(node("b", v1alpha1.NodeRunning))
	if met, err := tr.wait(t.Context(), e, time.Minute, nil); err != nil || met["b"].IsZero() {
		t.Errorf("waiting for b: %v, %v", met, err)
	}
}

func TestTracker_OperatorGone_EndsTheWaitAtOnce(t *testing.T) {
	tr, gone := &tracker{expected: map[*expectation]bool{}}, make(chan struct{})
	close(gone)
	if _, err := tr.wait(t.Context(), tr.expect([]string{"a"}, isRunning), time.Hour, gone); !errors.Is(err, errEnded) {
		t.Errorf("waiting without an operator: %v", err)
	}
}

// goodRun meets every aim.
func goodRun() *Run {
	r := &Run{Nodes: 500, Rest: Rest{Seconds: 60}}
	r.Load.AllDone, r.Load.FirstDone = 27, 0.9
	r.Load.Settled.Writes = 9 * 500
	return r
}

func TestConclude_GoodRun_EndsWell(t *testing.T) {
	var out bytes.Buffer
	if err := conclude(&Report{Runs: []*Run{goodRun()}}, t.TempDir(), true, &out); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "All aims are met") || !strings.Contains(out.String(), "115.30 s") {
		t.Errorf("the table lacks the verdict or the public operator's figures:\n%s", out.String())
	}
}

func TestConclude_MissedAims_AreNamedAndFailTheCheck(t *testing.T) {
	for name, spoil := range map[string]func(*Run){
		"all nodes done":                              func(r *Run) { r.Load.AllDone = 28.1 },
		"first node done":                             func(r *Run) { r.Load.FirstDone = 1.1 },
		"writes per node when settled":                func(r *Run) { r.Load.Settled.Writes = 9.2*500 + 1 },
		"reads per node":                              func(r *Run) { r.Load.Settled.Reads = 1 },
		"tokens for sidecars per node":                func(r *Run) { r.Load.Settled.Tokens = 501 },
		"tokens for sidecars per minute at rest":      func(r *Run) { r.Rest.Requests.Tokens = 26 },
		"writes per minute at rest":                   func(r *Run) { r.Rest.Requests.Writes = 1 },
		"cold start: writes":                          func(r *Run) { r.Restart.Requests.Writes = 1 },
		"change while down":                           func(r *Run) { r.Restart.ChangeToDelete = 2.1 },
		"image change of all nodes":                   func(r *Run) { r.Update.AllDone = 40.1 },
		"image change: writes per node":               func(r *Run) { r.Update.Requests.Writes = 7.2*500 + 1 },
		"operator CPU per minute at rest":             func(r *Run) { r.Rest.Cost.Operator = 1.1 },
		"lost pod: sidecar start to mark-ready, 99 %": func(r *Run) { r.Replace.MarkReady.P99 = 0.6 },
		"invalid override, 99 %":                      func(r *Run) { r.Replace.InvalidSpec.P99 = 0.6 },
		"beside a hanging sidecar":                    func(r *Run) { r.Hang.Without.Median, r.Hang.With.Median = 0.2, 0.5 },
		"operator memory after the load":              func(r *Run) { r.Memory.Loaded = 96 },
		"operator memory, peak":                       func(r *Run) { r.Memory.Peak = 111 },
		"API server CPU per new node":                 func(r *Run) { r.Load.Cost.APIServer = 30.1 },
	} {
		t.Run(name, func(t *testing.T) {
			r := goodRun()
			spoil(r)
			report := &Report{Runs: []*Run{r}}
			err := conclude(report, t.TempDir(), true, &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "1 aims") {
				t.Errorf("the check says %v, want %q alone", err, name)
			}
			var out bytes.Buffer
			if err := conclude(report, t.TempDir(), false, &out); err != nil || !strings.Contains(out.String(), "1 aims are missed") {
				t.Errorf("without a check it ends with %v and says\n%s", err, out.String())
			}
		})
	}
}

func TestConclude_SlowInALoadOrAmongMany_IsNamed(t *testing.T) {
	for name, report := range map[string]*Report{
		"while 500 are created": {Busy: &Busy{Nodes: 500, Change: Times{Max: 2.1}}},
		"among 5000":            {Growth: []*Growth{{Nodes: 100}, {Nodes: 5000, Change: Times{Median: 0.51}}}},
	} {
		if err := conclude(report, t.TempDir(), true, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the check says %v", name, err)
		}
	}
}

// Of several runs the middle one is judged, and the others are the spread.
func TestRows_SeveralRuns_AreJudgedByTheirMedian(t *testing.T) {
	runs := []*Run{goodRun(), goodRun(), goodRun()}
	runs[1].Load.AllDone, runs[2].Load.AllDone = 26, 99
	all := rowsOf(500)[0]
	if got, want := all.spreadOf(runs), (spread{Median: 27, Least: 26, Most: 99}); got != want || all.missed(runs) {
		t.Errorf("%s: %+v, missed %t, want %+v", all.name, got, all.missed(runs), want)
	}
	runs[1].Load.AllDone = 98
	if !all.missed(runs) {
		t.Errorf("%s is met with %+v", all.name, all.spreadOf(runs))
	}
	report := &Report{Runs: slices.Concat(runs, []*Run{{Nodes: 100, Rest: Rest{Seconds: 60}}})}
	if groups := report.bySize(); len(groups) != 2 || len(groups[0]) != 3 {
		t.Errorf("the runs are grouped as %v", groups)
	}
	if text := report.markdown(); !strings.Contains(text, "27 to 99") {
		t.Errorf("the table lacks the spread:\n%s", text)
	}
}

func TestWorseThan_AFifthWorse_IsNamed(t *testing.T) {
	before := (&Report{Speed: 100, Runs: []*Run{goodRun()}}).baseline()
	for name, c := range map[string]struct {
		speed float64
		spoil func(*Run)
		want  string
	}{
		"the same":                      {100, func(*Run) {}, ""},
		"a little slower":               {100, func(r *Run) { r.Load.AllDone = 27 * 1.19 }, ""},
		"a fifth slower":                {100, func(r *Run) { r.Load.AllDone = 27*1.2 + 0.1 }, "all nodes done"},
		"on a machine half as fast":     {50, func(r *Run) { r.Load.AllDone = 2 * 27 }, ""},
		"on a machine twice as fast":    {200, func(r *Run) { r.Load.AllDone = 27 }, "all nodes done"},
		"writes do not depend on speed": {50, func(r *Run) { r.Load.Settled.Writes = 12 * 500 }, "writes per node when settled"},
		"what has no aim is not judged": {100, func(r *Run) { r.Load.Created = 100 }, ""},
	} {
		run := goodRun()
		c.spoil(run)
		worse := strings.Join((&Report{Speed: c.speed, Runs: []*Run{run}}).worseThan(before), "; ")
		if (worse == "") != (c.want == "") || !strings.Contains(worse, c.want) {
			t.Errorf("%s: %q, want %q", name, worse, c.want)
		}
	}
}

func TestRegressions_KeptFigures_AreReadAgain(t *testing.T) {
	root := t.TempDir()
	report := &Report{Speed: 100, Runs: []*Run{goodRun()}}
	if worse, err := report.regressions(root); err != nil || worse != nil {
		t.Fatalf("without kept figures: %v, %v", worse, err)
	}
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(baselineFile)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := report.record(root); err != nil {
		t.Fatal(err)
	}
	report.Runs[0].Load.AllDone = 50
	if worse, err := report.regressions(root); err != nil || len(worse) != 1 {
		t.Errorf("kept figures: %v, %v, want one that is worse", worse, err)
	}
}

func TestReplaceFigures_BetweenTheirLines(t *testing.T) {
	page := "a\n" + figuresBegin + "\nold\n" + figuresEnd + "\nb\n"
	got, err := replaceFigures(page, "new\n")
	if want := "a\n" + figuresBegin + "\n\nnew\n\n" + figuresEnd + "\nb\n"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := replaceFigures("a", "new"); err == nil {
		t.Error("a page without the lines is taken")
	}
}

func TestPlotGrowth_IsXMLWithEveryPoint(t *testing.T) {
	svg := plotGrowth([]*Growth{{Nodes: 100, Memory: 60, Change: Times{Median: 0.2}}, {Nodes: 5000, Memory: 300, RestCPU: 9, ColdStart: 12, Change: Times{Median: 0.4}}})
	if err := xml.Unmarshal(svg, new(struct{})); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(svg, []byte("<circle")); n != 8 {
		t.Errorf("%d points, want 2 in each of 4 plots", n)
	}
}

func TestParse_BadFlags_AreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"--nodes", "5"}, {"--nodes", "x"}, {"--rest", "0s"}, {"--slow-pods", "0"}, {"--unknown"}, {"--parts", "loads"}, {"--repeat", "0"}, {"--growth", "500,100"},
	} {
		if _, err := parse(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	if s, err := parse([]string{"--nodes", "100,1000", "--check"}, &bytes.Buffer{}); err != nil || !s.check || len(s.sizes) != 2 {
		t.Errorf("good flags: %+v, %v", s, err)
	}
}
