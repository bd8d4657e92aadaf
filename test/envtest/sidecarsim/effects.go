package sidecarsim

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// effect is what a task does to the model. It gives the result of the real task.
type effect func(ctx context.Context, p *process, call Call) (any, error)

var effects = map[api.TaskType]effect{
	api.ConfigApply:        decoded(applyConfig),
	api.ConfigPatch:        decoded(patchConfig),
	api.ConfigReload:       decoded(reloadConfig),
	api.ConfigValidate:     decoded(validateConfig),
	api.ConfigureGenesis:   decoded(configureGenesis),
	api.ConfigureStateSync: decoded(configureStateSync),
	api.SetGenesisPeers:    decoded(setGenesisPeers),
	api.SnapshotRestore:    decoded(restoreSnapshot),
	api.PublishSnapshots:   decoded(publishSnapshots),
	api.ResetData:          decoded(resetData),
	api.SetResultExport:    decoded(setResultExport),
	api.StopSeid:           decoded(stopSeid),
	api.RestartSeid:        restartSeid,
	api.AwaitCondition:     decoded(awaitCondition),
}

// decoded is an effect that needs no more than the home and happens at once.
func decoded[P any](change func(m *model, p *process, params P) (any, error)) effect {
	return func(_ context.Context, p *process, call Call) (any, error) {
		params, err := paramsOf[P](call)
		if err != nil {
			return nil, err
		}
		p.all.settle(p.pod.UID)
		m := p.all.model
		m.mu.Lock()
		result, err := change(m, p, params)
		m.mu.Unlock()
		p.all.settle(p.pod.UID)
		return result, err
	}
}

func paramsOf[P any](call Call) (P, error) {
	var params P
	if len(call.Params) == 0 {
		return params, nil
	}
	if err := json.Unmarshal(call.Params, &params); err != nil {
		return params, fmt.Errorf("decoding the parameters of %s: %w", call.Type, err)
	}
	return params, nil
}

// configureGenesis takes the genesis that is handed in, or stands in for the one of
// the binary or the bucket, which has the hash that is expected.
func configureGenesis(m *model, p *process, params wire.ConfigureGenesis) (any, error) {
	hash, source := embeddedGenesis(), "embedded"
	switch {
	case params.Genesis != "":
		var err error
		if hash, err = hashInline(params.Genesis); err != nil {
			return nil, api.InvalidField("genesis", "%w", err)
		}
		source = "inline"
		if want := params.ExpectedGenesisHash; want != "" && want != hash {
			return nil, api.Terminal(api.CodeIntegrity, fmt.Errorf("verify-hash: genesis.json from inline has SHA-256 %s, expected %s", hash, want))
		}
	case params.ExpectedGenesisHash != "":
		hash = params.ExpectedGenesisHash
	}
	m.home(p.volume).genesis = hash
	return wire.ConfiguredGenesis{GenesisHash: hash, Source: source}, nil
}

// embeddedGenesis is the hash of the genesis that every version of seid carries here.
func embeddedGenesis() string {
	sum := sha256.Sum256([]byte("genesis"))
	return hex.EncodeToString(sum[:])
}

func hashInline(genesis string) (string, error) {
	packed, err := base64.StdEncoding.DecodeString(genesis)
	if err != nil {
		return "", fmt.Errorf("decoding base64: %w", err)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("decompressing: %w", err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, zipped); err != nil {
		return "", fmt.Errorf("decompressing: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// restoreSnapshot fetches each snapshot once, as the real task does until the data is
// reset.
func restoreSnapshot(m *model, p *process, params wire.SnapshotRestore) (any, error) {
	h := m.home(p.volume)
	if n := len(h.restored); n == 0 || h.restored[n-1] != params.TargetHeight {
		if err := m.checkStopped(h); err != nil {
			return nil, err
		}
		h.restored = append(h.restored, params.TargetHeight)
	}
	return wire.RestoredSnapshot{Height: params.TargetHeight, Verified: true}, nil
}

func publishSnapshots(m *model, p *process, params wire.PublishSnapshots) (any, error) {
	m.home(p.volume).publish = params.Keep
	return nil, nil
}

// resetData empties the data: the node has to sync again.
func resetData(m *model, p *process, _ wire.ResetData) (any, error) {
	h := m.home(p.volume)
	if err := m.checkStopped(h); err != nil {
		return nil, err
	}
	h.restored, h.started, h.synced, h.stateSync, h.emptied = nil, false, false, false, true
	h.upgrades = upgrades{}
	return wire.WipedData{}, nil
}

// setResultExport has the sidecar see to an export, also after its process or the pod was
// replaced. One that has ended continues only if another one, or the same again, is asked for.
func setResultExport(m *model, p *process, params wire.SetResultExport) (any, error) {
	h := m.home(p.volume)
	switch {
	case params.Export == nil:
		h.export = nil
	case h.export == nil || h.export.Hash != params.Hash || params.Again:
		h.export = &api.StandingExport{
			Hash: params.Hash, Bucket: params.Export.Bucket, Prefix: params.Export.Prefix, CanonicalRPC: params.Export.CanonicalRPC,
		}
	}
	return nil, nil
}

// Diverge has the export of a node end at a block that differs.
func (s *Sidecars) Diverge(node string, divergence api.Divergence) error {
	p := s.processOf(node)
	m := s.model
	m.mu.Lock()
	defer m.mu.Unlock()
	if p == nil || m.home(p.volume).export == nil {
		return fmt.Errorf("ending the export of %s: it does not run", node)
	}
	m.home(p.volume).export.Divergence = &divergence
	return nil
}

// checkStopped refuses while a process runs on the home.
func (m *model) checkStopped(h *home) error {
	for _, c := range m.chains {
		if c.home == h && c.running() {
			return api.Terminal(api.CodePrecondition, errors.New("seid is running; node is not held — refusing")).
				WithHint("run mark-not-ready and stop-seid first")
		}
	}
	return nil
}

// stopSeid ends the process. It comes back at once if the gate is open, as a container
// that ended does.
func stopSeid(m *model, p *process, _ wire.StopSeid) (any, error) {
	c := m.chains[p.pod.UID]
	was := c != nil && c.running()
	if was {
		c.end(api.Exit{At: time.Now(), Reason: api.ExitStopped}, api.SeidWaiting)
	}
	return wire.Stopped{WasRunning: was}, nil
}

// awaitCondition finds every condition met.
func awaitCondition(m *model, p *process, params wire.AwaitCondition) (any, error) {
	if params.Action == wire.ActionSigterm {
		if _, err := stopSeid(m, p, wire.StopSeid{}); err != nil {
			return nil, err
		}
	}
	return wire.ConditionMet{Height: params.TargetHeight}, nil
}

// restartPoll is how often a restart looks whether seid runs.
const restartPoll = 2 * time.Millisecond

// restartSeid ends the process that runs when the task first comes here, and waits
// until the next one runs: for as long as the gate is closed.
func restartSeid(ctx context.Context, p *process, call Call) (any, error) {
	params, err := paramsOf[wire.RestartSeid](call)
	if err != nil {
		return nil, err
	}
	p.all.settle(p.pod.UID)
	p.all.model.endOnce(p, call.ID, params.ConfigHash)
	tick := time.NewTicker(restartPoll)
	defer tick.Stop()
	for !p.all.model.runs(p) {
		select {
		case <-ctx.Done():
			return nil, errors.New("the task was cut off")
		case <-tick.C:
			p.all.settle(p.pod.UID)
		}
	}
	return wire.Restarted{RPCServing: true}, nil
}

func (m *model) runs(p *process) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.chains[p.pod.UID]
	return c != nil && c.running()
}

func (m *model) endOnce(p *process, task, hash string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, c := m.home(p.volume), m.chains[p.pod.UID]
	running := c != nil && c.running()
	if running && hash != "" && c.with.hash == hash {
		return
	}
	target, noted := h.restarts[task]
	if !noted {
		if running {
			target = h.starts
		}
		h.restarts[task] = target
	}
	if running && h.starts == target {
		c.end(api.Exit{At: time.Now(), Reason: api.ExitStopped}, api.SeidWaiting)
	}
}
