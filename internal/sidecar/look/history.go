package look

import (
	"strconv"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

const (
	// sampleEvery is the distance of two samples in the history.
	sampleEvery = 5 * time.Second
	// samples is how many are kept: more than closingWindow needs.
	samples = 24
)

// sample is how far a node was behind at a time.
type sample struct {
	at  time.Time
	lag int64
}

// history is what was seen of one process. Looks come whenever somebody asks, so it goes by
// the clock and not by their number. The zero value has seen nothing.
type history struct {
	process  string
	answered bool
	// opened is when the RPC port was first seen open.
	opened time.Time
	// behind holds samples since the node fell behind, oldest first.
	behind []sample
	// moved is when the measure of progress last changed.
	moved   time.Time
	measure int64
}

// processOf tells one run of seid from the next.
func processOf(s api.Seid) string {
	if s.State == api.SeidWaiting || s.State == api.SeidExited {
		return ""
	}
	id := strconv.Itoa(s.Starts)
	if s.Since != nil {
		id += "@" + s.Since.UTC().Format(time.RFC3339Nano)
	}
	return id
}

// observe adds a look and tells the trend.
func (h *history) observe(now time.Time, process string, seen Facts) Trend {
	if h.process != process {
		*h = history{process: process}
	}
	if h.opened.IsZero() && seen.Ports.RPC {
		h.opened = now
	}
	c, measure := seen.Chain, seen.StateSync.work()
	if c != nil {
		h.answered = true
		measure = c.Height
	}
	if h.moved.IsZero() || measure != h.measure {
		h.moved, h.measure = now, measure
	}
	trend := Trend{Answered: h.answered, ClosingIn: h.closingIn(now, c), Idle: now.Sub(h.moved)}
	if !h.opened.IsZero() {
		trend.Open = now.Sub(h.opened)
	}
	return trend
}

// closingIn compares the distance to the peers with that of a while ago.
func (h *history) closingIn(now time.Time, c *Chain) bool {
	if c == nil {
		return true
	}
	if !c.Behind && !c.CatchingUp {
		h.behind = nil
		return true
	}
	if n := len(h.behind); n == 0 || now.Sub(h.behind[n-1].at) >= sampleEvery {
		h.behind = append(h.behind, sample{now, c.Lag})
		h.behind = h.behind[max(len(h.behind)-samples, 0):]
	}
	var then *sample
	for i := range h.behind {
		if now.Sub(h.behind[i].at) >= closingWindow {
			then = &h.behind[i] // the latest that is old enough
		}
	}
	return then == nil || c.Lag < then.lag
}
