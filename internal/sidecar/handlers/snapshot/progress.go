package snapshot

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// reportEvery is how often a long copy says how far it is.
const reportEvery = time.Second

// meter tells how far a copy is, how fast it goes and how long it will take.
type meter struct {
	doing  string
	total  int64
	report func(api.Progress)
	now    func() time.Time

	started, last time.Time
	begun         int64 // bytes that an earlier run had
}

func newMeter(doing string, begun, total int64, report func(api.Progress)) *meter {
	m := &meter{doing: doing, begun: begun, total: total, report: report, now: time.Now}
	m.started = m.now()
	return m
}

// at reports that done bytes are there, unless it did so a moment ago.
func (m *meter) at(done int64) {
	now := m.now()
	if now.Sub(m.last) < reportEvery && done != m.total {
		return
	}
	m.last = now
	m.report(api.Progress{Done: done, Total: m.total, Unit: "bytes", Message: m.message(done, now)})
}

func (m *meter) message(done int64, now time.Time) string {
	seconds := now.Sub(m.started).Seconds()
	if seconds < 1 || done <= m.begun {
		return m.doing
	}
	rate := float64(done-m.begun) / seconds
	text := fmt.Sprintf("%s, %.1f MB/s", m.doing, rate/1e6)
	if m.total > done {
		left := time.Duration(float64(m.total-done) / rate * float64(time.Second))
		text += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return text
}
