package look

import (
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestHistory_ClosingIn_ComparesWithAMinuteAgo(t *testing.T) {
	for name, tc := range map[string]struct {
		// lag gives the distance at a second.
		lag    func(second int64) int64
		behind bool
		// want is the trend after 59 s and after 3 min.
		early, late bool
	}{
		"catches up":               {lag: func(s int64) int64 { return 10000 - s }, behind: true, early: true, late: true},
		"falls behind":             {lag: func(s int64) int64 { return 1000 + s }, behind: true, early: true, late: false},
		"keeps its distance":       {lag: func(int64) int64 { return 1000 }, behind: true, early: true, late: false},
		"is in sync":               {lag: func(int64) int64 { return 1 }, early: true, late: true},
		"a higher peer, then less": {lag: func(s int64) int64 { return 1000 + 8000*min(s, 60)/60 - 20*max(s-60, 0) }, behind: true, early: true, late: true},
	} {
		for _, every := range []int64{1, 7, 15} {
			var h history
			var early, late bool
			for second := int64(0); second <= 180; second += every {
				at := now.Add(time.Duration(second) * time.Second)
				trend := h.observe(at, "1", Facts{Chain: &Chain{Height: 1 + second, Lag: tc.lag(second), Behind: tc.behind}})
				if second < 60 {
					early = trend.ClosingIn
				}
				late = trend.ClosingIn
			}
			if early != tc.early || late != tc.late {
				t.Errorf("%s, asked every %d s: %v then %v, want %v then %v", name, every, early, late, tc.early, tc.late)
			}
			if len(h.behind) > samples {
				t.Errorf("%d samples are kept", len(h.behind))
			}
		}
	}
}

func TestHistory_Idle_CountsFromTheLastProgress(t *testing.T) {
	var h history
	at := func(second int, c *Chain, s *StateSync) time.Duration {
		return h.observe(now.Add(time.Duration(second)*time.Second), "1", Facts{Chain: c, StateSync: s}).Idle
	}
	chunks := func(n int64) *StateSync { return &StateSync{Metrics: &StateSyncMetrics{Chunks: n}} }
	for _, tc := range []struct {
		second int
		chain  *Chain
		sync   *StateSync
		want   time.Duration
	}{
		{0, nil, chunks(0), 0},
		{90, nil, chunks(0), 90 * time.Second},
		{100, nil, chunks(1), 0},
		{130, nil, &StateSync{Restored: 5, Metrics: &StateSyncMetrics{Chunks: 1}}, 0},
		{150, nil, &StateSync{Restored: 5, Metrics: &StateSyncMetrics{Chunks: 1}}, 20 * time.Second},
		{200, &Chain{Height: 70}, nil, 0},
		{210, &Chain{Height: 70}, nil, 10 * time.Second},
		{220, &Chain{Height: 71}, nil, 0},
	} {
		if got := at(tc.second, tc.chain, tc.sync); got != tc.want {
			t.Errorf("after %d s: idle for %s, want %s", tc.second, got, tc.want)
		}
	}
}

func TestHistory_ANewProcess_HasNotAnswered(t *testing.T) {
	var h history
	first := api.Seid{State: api.SeidRunning, Starts: 1, Since: new(now)}
	second := api.Seid{State: api.SeidRunning, Starts: 2, Since: new(now.Add(time.Minute))}
	if !h.observe(now, processOf(first), Facts{Chain: &Chain{}}).Answered || !h.observe(now, processOf(first), Facts{}).Answered {
		t.Error("the first process has answered")
	}
	if h.observe(now, processOf(second), Facts{}).Answered {
		t.Error("the second process has not answered")
	}
	if processOf(api.Seid{State: api.SeidExited, Since: new(now)}) != "" {
		t.Error("what has ended is no process")
	}
}

func TestHistory_Open_CountsFromTheFirstSight(t *testing.T) {
	var h history
	closed, open := Facts{}, Facts{Ports: Ports{Known: true, RPC: true}}
	for _, tc := range []struct {
		second  int
		process string
		seen    Facts
		want    time.Duration
	}{
		{0, "1", closed, 0},
		{10, "1", open, 0},
		{12, "1", open, 2 * time.Second},
		{20, "2", closed, 0},
		{30, "2", open, 0},
	} {
		if got := h.observe(now.Add(time.Duration(tc.second)*time.Second), tc.process, tc.seen).Open; got != tc.want {
			t.Errorf("after %d s: open for %s, want %s", tc.second, got, tc.want)
		}
	}
}
