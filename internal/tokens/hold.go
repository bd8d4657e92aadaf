package tokens

import "time"

const (
	firstHold = time.Second
	lastHold  = 30 * time.Second
)

// hold keeps requests back after one has failed. Who may not have a token for one audience may have
// none for any, and an API server that is down is down for all: hundreds of nodes must not ask in
// turn.
type hold struct {
	until    time.Time
	failures int
	// err is how the request failed that began it.
	err error
}

func (h *hold) lasts(now time.Time) bool { return now.Before(h.until) }

// failed lengthens the hold, with a fifth of chance in it. What fails while it lasts was under way
// when it began, or never asked.
func (h *hold) failed(now time.Time, err error, chance float64) {
	if h.lasts(now) {
		return
	}
	pause := lastHold
	if h.failures < 5 {
		pause = min(lastHold, firstHold<<h.failures)
	}
	h.failures++
	h.until = now.Add(pause + scaled(pause, chance/5))
	h.err = err
}
