package sidecarsim

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// files are the configuration files of a home, as far as the model knows them.
type files struct {
	hash      string
	mode      seid.Mode
	overrides map[string]string
}

func (f files) same(other files) bool {
	return f.mode == other.mode && maps.Equal(f.overrides, other.overrides)
}

// home is the home directory on a volume.
type home struct {
	volume string
	// identity is what the keys on the volume are derived from.
	identity string
	// keyOf is the identity of the volume that the key on this one was copied from; empty: it is its own.
	keyOf      string
	genesis    string
	configured bool
	files      files
	validation *api.Validation
	refused    *api.Refusal
	// good is the last configuration that passed validation, and goodFor the
	// version that it passed for.
	good    *files
	goodFor string

	stateSync bool
	restored  []int64
	// emptied: reset-data was done.
	emptied bool
	// publish is what publish-snapshots was given last.
	publish  int32
	started  bool
	synced   bool
	starts   int
	lastExit *api.Exit
	// restarts are the starts that restart-seid tasks were to end, by task.
	restarts map[string]int
	// export is the standing export; nil when there is none.
	export *api.StandingExport
	// upgrades is what the state has of the chain's upgrades.
	upgrades upgrades
}

func (h *home) stage() api.HomeStage {
	switch {
	case h.genesis == "" || !h.configured:
		return api.HomeEmpty
	case h.synced:
		return api.HomeSynced
	case h.started:
		return api.HomeFirstSync
	default:
		return api.HomePrepared
	}
}

// validFor reports whether the files passed validation for a version.
func (h *home) validFor(version string) bool {
	return h.validation != nil && h.validation.Valid && h.validation.SeidVersion == version
}

// failedFor reports whether the files failed validation for a version.
func (h *home) failedFor(version string) bool {
	return h.validation != nil && !h.validation.Valid && h.validation.SeidVersion == version
}

func (h *home) signs() bool { return h.files.mode == seid.ModeValidator }

// edit changes the files. What was said about the old ones does not hold for others.
func (h *home) edit(next files) {
	if !h.configured || !h.files.same(next) {
		h.validation, h.refused = nil, nil
	}
	h.files, h.configured = next, true
}

// Furnish gives the volume of a claim the home of a node that has run and been in sync,
// as an imported one has.
func (s *Sidecars) Furnish(claim types.UID, mode seid.Mode, overrides map[string]string) {
	m := s.model
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.home(claimVolume(claim))
	h.genesis, h.started, h.synced = embeddedGenesis(), true, true
	h.edit(files{mode: mode, overrides: maps.Clone(overrides)})
}

// Clone gives the volume of a claim what is on a node's, its consensus key included.
func (s *Sidecars) Clone(node string, claim types.UID) {
	m := s.model
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to := m.home(m.volumes[node]), m.home(claimVolume(claim))
	to.genesis, to.started, to.synced = from.genesis, from.started, from.synced
	to.keyOf = cmp.Or(from.keyOf, from.identity)
	to.edit(from.files)
}

// Rekey gives the volume of a claim a key of its own, as seid does where it finds none.
func (s *Sidecars) Rekey(claim types.UID) {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	s.model.home(claimVolume(claim)).keyOf = ""
}

// volumeKey is the address of the key that lies on the volume.
func (h *home) volumeKey() string {
	return addressOf("consensus key of " + cmp.Or(h.keyOf, h.identity))
}

// VolumeKey is the address of the consensus key on a node's volume; empty while it has no pod.
func (s *Sidecars) VolumeKey(node string) string {
	if p := s.processOf(node); p != nil {
		s.model.mu.Lock()
		defer s.model.mu.Unlock()
		return s.model.home(p.volume).volumeKey()
	}
	return ""
}

func addressOf(public string) string {
	sum := sha256.Sum256([]byte(public))
	return strings.ToUpper(hex.EncodeToString(sum[:20]))
}

const keyPersistentPeers = "network.p2p.persistent_peers"

// changedKeys are the keys that differ, in order.
func changedKeys(before, after files) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(before.overrides)), maps.Keys(after.overrides))
	slices.Sort(keys)
	changed := slices.DeleteFunc(slices.Compact(keys), func(key string) bool {
		old, had := before.overrides[key]
		value, has := after.overrides[key]
		return had == has && old == value
	})
	if before.mode != after.mode {
		changed = append(changed, "mode")
	}
	return changed
}

// restartDue are the changed keys that only a restart picks up. Peers never need
// one while the node is in sync, and further peers never.
func restartDue(before, after files, inSync bool) []string {
	return slices.DeleteFunc(changedKeys(before, after), func(key string) bool {
		if key == keyPersistentPeers {
			return inSync || before.overrides[key] != "" || after.overrides[key] == ""
		}
		info, err := config.KeyInfo(key)
		return err == nil && info.HotReload
	})
}

// places spells keys as places in files.
func places(keys []string) []string {
	named := make([]string, 0, len(keys))
	for _, key := range keys {
		if !strings.Contains(key, ":") {
			key = "config.toml:" + key
		}
		named = append(named, key)
	}
	return named
}
