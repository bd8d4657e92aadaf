package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// ConfigApply asks to write the node's configuration from a mode and overrides.
type ConfigApply struct {
	Mode          string            `json:"mode,omitempty"`
	Overrides     map[string]string `json:"overrides,omitempty"`
	TargetVersion int               `json:"targetVersion,omitempty"`
	// Incremental keeps what is on disk and changes only the overrides.
	Incremental bool `json:"incremental,omitempty"`
	// Moniker is the node's name; empty keeps the one on disk.
	Moniker string `json:"moniker,omitempty"`
	// CPUs is what the node may use, for the sizes of its worker pools; 0 leaves
	// them to seid.
	CPUs int `json:"cpus,omitempty"`
	// ConfigHash is what the caller calls this configuration. It is stored with the files
	// and shown in the node document for as long as the files are these.
	ConfigHash string `json:"configHash,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *ConfigApply) Validate() error {
	if p.Mode == "" && !p.Incremental {
		return api.InvalidField("mode", "config-apply: mode is required for non-incremental config resolution")
	}
	if p.TargetVersion < 0 {
		return api.InvalidField("targetVersion", "%d is negative", p.TargetVersion)
	}
	if p.CPUs < 0 {
		return api.InvalidField("cpus", "%d is negative", p.CPUs)
	}
	return first(optionalText("moniker", p.Moniker, maxMoniker), optionalText("configHash", p.ConfigHash, maxConfigHash))
}

// maxConfigHash is longer than any digest in hex.
const maxConfigHash = 200

// ConfigChanges is the result of config-apply, config-patch and config-reload.
type ConfigChanges struct {
	// Changed lists the keys that differ now, as file:section.key.
	Changed []string `json:"changed"`
	// RestartRequired: seid has to start over for a change to count.
	RestartRequired bool `json:"restartRequired"`
}

// ConfigPatch asks to merge raw TOML keys into files. null deletes a key.
type ConfigPatch struct {
	Files map[string]json.RawMessage `json:"files"`
}

// patchable are the files config-patch may touch.
var patchable = []string{"app.toml", "client.toml", "config.toml"}

// Validate checks what can be checked without the node.
func (p *ConfigPatch) Validate() error {
	if len(p.Files) == 0 {
		return api.InvalidField("files", "config-patch: at least one file is required")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		field := "files[" + name + "]"
		if !slices.Contains(patchable, name) {
			return api.InvalidField(field, "is not one of %v", patchable)
		}
		var tree map[string]json.RawMessage
		if err := json.Unmarshal(p.Files[name], &tree); err != nil || tree == nil {
			return api.InvalidField(field, "is not an object of keys")
		}
	}
	return nil
}

// ConfigValidate asks whether the files on disk are a configuration seid can use.
type ConfigValidate struct{}

// ConfigTrial is what the result of config-validate tells beside its diagnostics.
type ConfigTrial struct {
	// Tried: seid of the version in the pod was started on the files.
	Tried bool `json:"tried"`
	// Skipped says why it was not; empty also when the files were refused before that.
	Skipped string `json:"skipped,omitempty"`
	// Replaced: the files failed, and the last good configuration was put in their place.
	Replaced bool `json:"replaced,omitempty"`
}

// ConfigReload asks to change keys that need no restart.
type ConfigReload struct {
	Fields map[string]string `json:"fields"`
}

// Validate checks what can be checked without the node.
func (p *ConfigReload) Validate() error {
	if len(p.Fields) == 0 {
		return api.InvalidField("fields", "at least one is required")
	}
	return nil
}

// ConfigureStateSync asks to point the node at witnesses it can sync from.
type ConfigureStateSync struct {
	UseLocalSnapshot bool   `json:"useLocalSnapshot,omitempty"`
	TrustPeriod      string `json:"trustPeriod,omitempty"`
	BackfillBlocks   int64  `json:"backfillBlocks,omitempty"`
	// RPCServers are host:port, or http or https URLs that may have a path; empty means
	// the hosts of the persistent peers.
	RPCServers []string `json:"rpcServers,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *ConfigureStateSync) Validate() error {
	if p.BackfillBlocks < 0 {
		return api.InvalidField("backfillBlocks", "%d is negative", p.BackfillBlocks)
	}
	for i, server := range p.RPCServers {
		if _, err := rpc.ParseServer(server); err != nil {
			return api.InvalidField(fmt.Sprintf("rpcServers[%d]", i), "%w", err)
		}
	}
	return duration("trustPeriod", p.TrustPeriod)
}

// StateSync is the result of configure-state-sync.
type StateSync struct {
	TrustHeight int64    `json:"trustHeight"`
	TrustHash   string   `json:"trustHash"`
	RPCServers  []string `json:"rpcServers"`
	Warnings    []string `json:"warnings,omitempty"`
}
