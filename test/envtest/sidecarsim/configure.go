package sidecarsim

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

func applyConfig(m *model, p *process, params wire.ConfigApply) (any, error) {
	if err := config.CheckOverrides(params.Overrides); err != nil {
		return nil, api.Terminal(api.CodeInvalidParams, err)
	}
	h := m.home(p.volume)
	next := files{hash: params.ConfigHash, mode: h.files.mode, overrides: maps.Clone(params.Overrides)}
	if params.Incremental {
		next.overrides = merged(h.files.overrides, params.Overrides)
	} else {
		mode, err := seid.ParseMode(params.Mode)
		if err != nil {
			return nil, api.InvalidField("mode", "%w", err)
		}
		next.mode = mode
	}
	if params.ConfigHash != "" && h.files.hash == params.ConfigHash {
		next = h.files // what the caller calls by one name is one configuration
	}
	result := m.write(h, next)
	if !params.Incremental && h.synced {
		h.stateSync = false
	}
	return result, nil
}

// patchConfig edits files by hand: the hash that came with them is not theirs any more.
// Which keys a patch has does not matter to the model.
func patchConfig(m *model, p *process, params wire.ConfigPatch) (any, error) {
	h := m.home(p.volume)
	fields := map[string]string{}
	for name, patch := range params.Files {
		fields[name+":patched"] = string(patch)
	}
	return m.write(h, files{mode: h.files.mode, overrides: merged(h.files.overrides, fields)}), nil
}

func reloadConfig(m *model, p *process, params wire.ConfigReload) (any, error) {
	if err := config.CheckOverrides(params.Fields); err != nil {
		return nil, api.Terminal(api.CodeInvalidParams, err)
	}
	h := m.home(p.volume)
	return m.write(h, files{mode: h.files.mode, overrides: merged(h.files.overrides, params.Fields)}), nil
}

// envGenesisBucket is where a list of peers may be.
const envGenesisBucket = "SEI_GENESIS_BUCKET_URL"

// setGenesisPeers and configureStateSync belong to the configuration that was applied:
// it keeps its name, and has to be validated again.
func setGenesisPeers(m *model, p *process, params wire.SetGenesisPeers) (any, error) {
	if params.Peers == nil && envOf(p.pod, p.all.opts.Container)[envGenesisBucket] == "" {
		return nil, api.Terminal(api.CodePrecondition, errors.New("no genesis bucket is configured"))
	}
	if params.Peers != nil && len(params.Peers) == 0 {
		return wire.Peers(params), nil
	}
	h := m.home(p.volume)
	next := h.files
	next.overrides = merged(h.files.overrides, map[string]string{keyPersistentPeers: strings.Join(params.Peers, ",")})
	if h.configured {
		m.write(h, next)
	}
	return wire.Peers(params), nil
}

func configureStateSync(m *model, p *process, params wire.ConfigureStateSync) (any, error) {
	h := m.home(p.volume)
	if !h.stateSync {
		h.stateSync, h.validation = true, nil
	}
	return wire.StateSync{TrustHeight: 1, TrustHash: strings.Repeat("AB", 32), RPCServers: params.RPCServers}, nil
}

// write changes the files and says what differs.
func (m *model) write(h *home, next files) wire.ConfigChanges {
	before := h.files
	h.edit(next)
	return wire.ConfigChanges{
		Changed: places(changedKeys(before, next)), RestartRequired: len(restartDue(before, next, false)) > 0,
	}
}

func merged(base, over map[string]string) map[string]string {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, over)
	return out
}

// validateConfig judges the files. Refused ones give way to the last good ones of this
// version, if there are any.
func validateConfig(m *model, p *process, _ wire.ConfigValidate) (any, error) {
	h, version := m.home(p.volume), versionOf(p.pod)
	report := config.Report{Mode: string(h.files.mode), Diagnostics: config.Diagnostics{}}
	err := m.judge(h.files, version)
	if err == nil {
		report.Valid = true
		good := h.files
		good.overrides = maps.Clone(good.overrides)
		h.validation = &api.Validation{Valid: true, SeidVersion: version, Tried: m.checkStopped(h) == nil}
		h.good, h.goodFor = &good, version
		return report, nil
	}
	failed := api.Terminal(api.CodeInvalidParams, fmt.Errorf("config validation failed: %w", err))
	if h.good == nil || h.goodFor != version || h.good.same(h.files) {
		h.validation = &api.Validation{SeidVersion: version, Error: err.Error()}
		return report, failed
	}
	refused := &api.Refusal{ConfigHash: h.files.hash, SeidVersion: version, Error: err.Error()}
	h.edit(*h.good)
	h.validation, h.refused = &api.Validation{Valid: true, SeidVersion: version}, refused
	return report, failed
}

// judge asks the tests whether a configuration is bad. They must not call the Sidecars.
func (m *model) judge(f files, version string) error {
	for _, v := range m.verdicts {
		if err := v.judge(maps.Clone(f.overrides), version); err != nil {
			return err
		}
	}
	return nil
}
