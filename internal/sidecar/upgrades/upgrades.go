// Package upgrades remembers on the volume what the chain's own state reported its upgrades, for the
// time when seid does not run and cannot be asked. It asks nobody.
package upgrades

import (
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// Record is what the state on the volume told last.
type Record struct {
	// Applied are the upgrades that are applied, newest first.
	Applied []api.AppliedUpgrade `json:"applied"`
	// Plan is the upgrade that was planned; nil when none was.
	Plan *api.Upgrade `json:"plan,omitempty"`
	// Passed is the height of a stop that the chain has left behind without applying its upgrade:
	// the upgrade was skipped.
	Passed int64 `json:"passed,omitempty"`
}

// Path is the file in a home.
func Path(home string) string { return filepath.Join(home, ".sei-sidecar", "upgrades.json") }

// Read gives the record of a home; nil means that there is none.
func Read(home string) (*Record, error) {
	record := &Record{}
	found, err := durable.ReadJSON(Path(home), record)
	if !found || err != nil {
		return nil, err
	}
	return record, nil
}

// Write replaces the record.
func Write(home string, record *Record) error { return durable.WriteJSON(Path(home), record, 0o640) }

// Forget removes the record: the data that it is about goes.
func Forget(home string) error { return durable.Remove(Path(home)) }

// Has reports whether an upgrade is applied.
func (r *Record) Has(name string) bool {
	for i := range r.Applied {
		if r.Applied[i].Name == name {
			return true
		}
	}
	return false
}
