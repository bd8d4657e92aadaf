package look

import (
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// A block that seid refuses stays told through a crash loop, and no longer than it is true.
func TestNode_BlockThatSeidRefuses_IsToldUntilTheNodeIsPastIt(t *testing.T) {
	at := func(height int64) *api.Divergence {
		return &api.Divergence{Height: height, Field: "app_hash", Message: "panic"}
	}
	exit := func(d *api.Divergence, when time.Duration) *api.Exit {
		return &api.Exit{At: now.Add(when), Reason: api.ExitCrash, Code: 2, Divergence: d}
	}
	for name, tc := range map[string]struct {
		seid   api.Seid
		height int64 // 0: it does not answer
		after  time.Duration
		want   bool
	}{
		"none":                                 {seid: api.Seid{State: api.SeidRunning, Since: new(now)}, height: 10},
		"it says so and runs on":               {seid: api.Seid{State: api.SeidRunning, Since: new(now), Divergence: at(11)}, height: 10, want: true},
		"it has ended":                         {seid: api.Seid{State: api.SeidExited, Since: new(now), LastExit: exit(at(11), 0)}, want: true},
		"it is on its way to the same end":     {seid: api.Seid{State: api.SeidRunning, Since: new(now), LastExit: exit(at(11), 0)}, want: true},
		"the next one stands before the block": {seid: api.Seid{State: api.SeidRunning, Since: new(now), LastExit: exit(at(11), 0)}, height: 10, after: time.Hour, want: true},
		"the next one is past it":              {seid: api.Seid{State: api.SeidRunning, Since: new(now), LastExit: exit(at(11), 0)}, height: 11},
		"no height, the next one has begun":    {seid: api.Seid{State: api.SeidRunning, Since: new(now), LastExit: exit(at(0), 0)}, height: 10, want: true},
		"no height, the next one runs on":      {seid: api.Seid{State: api.SeidRunning, Since: new(now), LastExit: exit(at(0), 0)}, height: 10, after: refusalFades},
		"it was another binary":                {seid: api.Seid{State: api.SeidRunning, Since: new(now), LastExit: exit(at(11), -time.Minute)}, height: 10},
		"it ended for another reason":          {seid: api.Seid{State: api.SeidExited, Since: new(now), LastExit: exit(nil, 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSeid(t)
			l := s.look()
			s.set(func() { s.state, s.height = tc.seid, tc.height })
			if tc.height == 0 {
				l.RPC = nil
			}
			s.clock.Step(tc.after)
			if got := l.Node(t.Context()).Seid.Divergence; (got != nil) != tc.want {
				t.Errorf("divergence %+v, want one: %t", got, tc.want)
			}
		})
	}
}
