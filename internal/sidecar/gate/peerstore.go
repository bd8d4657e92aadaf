package gate

import (
	"errors"
	"os"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// damagedPeerStore are the words of a seid that cannot open its peer store.
var damagedPeerStore = []string{"unable to initialize peer store", "database entry point either missing or corrupted"}

// repairPeerStore moves a peer store aside that kept seid from starting the last time. A seid
// that is killed while it makes the store ends over it at every start from then on. It holds
// addresses of peers and nothing else, and seid makes a new one.
func (j *journal) repairPeerStore() {
	last := j.record.LastExit
	if j.Home == "" || last == nil || last.Reason != api.ExitCrash {
		return
	}
	for _, words := range damagedPeerStore {
		if !strings.Contains(last.Message, words) {
			return
		}
	}
	store := home.Dir(j.Home).Path("data", "peerstore.db")
	if _, err := os.Stat(store); errors.Is(err, os.ErrNotExist) {
		return // elsewhere, or moved already
	}
	aside := store + ".damaged"
	if err := errors.Join(os.RemoveAll(aside), os.Rename(store, aside)); err != nil {
		j.Log.Error("moving the damaged peer store aside", "error", err)
		return
	}
	j.Log.Warn("the peer store was damaged: it is moved aside, and seid makes a new one", "aside", aside)
}
