// Package supervision is a stand-in until the real one is merged: it tells from the process
// table whether seid runs.
package supervision

import (
	"sync"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Record is what is known of the chain process.
type Record struct {
	State api.SeidState
	Since time.Time
	Key   Key
}

// Key is a look at the consensus key from seid's container.
type Key struct {
	Address string
	Error   string
}

var (
	mu   sync.Mutex
	seen = map[string]Record{}
)

// Read looks for seid.
func Read(home string) (Record, error) {
	mu.Lock()
	defer mu.Unlock()
	last := seen[home]
	found, err := process.Table{Home: home}.Find()
	id := string(api.SeidWaiting)
	state := api.SeidWaiting
	if err == nil {
		id, state = found.Identity(), api.SeidRunning
	}
	if last.Key.Error != id {
		last = Record{State: state, Since: time.Now(), Key: Key{Error: id}}
		seen[home] = last
	}
	last.Key = Key{}
	return last, nil
}

// Seid is the document's part.
func (r Record) Seid(time.Time) api.Seid {
	since := r.Since
	return api.Seid{State: r.State, Since: &since}
}
