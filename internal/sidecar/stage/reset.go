package stage

import (
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// Reset is the last deletion of the chain data. The record is on the volume, so that it outlives
// the task that deletes: data that is only partly there must never run.
type Reset struct {
	// Starts is how often seid had been started when the reset began.
	Starts int `json:"starts"`
	// Done: all of the data is gone.
	Done bool `json:"done"`
}

// Empty reports whether seid has not run since all of the data was deleted.
func (r *Reset) Empty(starts int) bool { return r != nil && r.Done && starts <= r.Starts }

func resetPath(home string) string { return filepath.Join(home, ".sei-sidecar", "reset") }

// BeginReset records that data is about to be deleted.
func BeginReset(home string, starts int) error { return writeReset(home, Reset{Starts: starts}) }

// EndReset records that all of it is gone.
func EndReset(home string, starts int) error {
	return writeReset(home, Reset{Starts: starts, Done: true})
}

func writeReset(home string, r Reset) error { return durable.WriteJSON(resetPath(home), r, 0o640) }

// LastReset gives the record of the last reset; nil when there was none.
func LastReset(home string) (*Reset, error) {
	r := &Reset{}
	found, err := durable.ReadJSON(resetPath(home), r)
	if !found || err != nil {
		return nil, err
	}
	return r, nil
}
