package configfiles

import (
	"github.com/sei-operator/sei-operator/internal/seid"
)

// OpensRPC reports whether the node opens its RPC when it starts. A seed never does; a node
// that is set to sync its state from peers does so only afterwards.
func (t *Tasks) OpensRPC() (bool, error) {
	files, err := t.read()
	if err != nil {
		return false, err
	}
	mode, _ := files.Config["mode"].(string)
	address, known := section(files.Config, "rpc")["laddr"].(string)
	syncing, _ := section(files.Config, "statesync")["enable"].(bool)
	return seid.Mode(mode) != seid.ModeSeed && !syncing && (address != "" || !known), nil
}
