package configfiles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/completion"
)

const (
	stateSyncMark = "statesync"
	// maxPeerWitnesses bounds how many peers are asked when no witness is named.
	maxPeerWitnesses = 8
	rpcPort          = "26657"
	// staleAfter is how long a found trust point is given back without asking the
	// witnesses again.
	staleAfter = time.Hour
	// defaultTrustPeriod is seid's.
	defaultTrustPeriod = 168 * time.Hour
	// trustRules is raised when trust points are chosen by other rules, so that one that
	// an older sidecar chose is not given back.
	trustRules = 2
)

// stateSyncInputs is everything the settings depend on.
type stateSyncInputs struct {
	wire.ConfigureStateSync
	Candidates    []string
	LocalSnapshot int64
	Period        time.Duration
	Rules         int
}

// configureStateSync points the node at witnesses that agree with each other. A
// repeat within the hour writes what was found before: a full config-apply in
// between has switched state sync off again.
func (t *Tasks) configureStateSync(ctx context.Context, task engine.Task, p wire.ConfigureStateSync) (any, error) {
	files, err := t.read()
	if err != nil {
		return nil, err
	}
	if files.Config == nil {
		return nil, errNotInitialised
	}
	inputs, err := t.stateSyncInputs(files, p)
	if err != nil {
		return nil, err
	}
	found, err := foundBefore(task.Records, inputs)
	if err != nil {
		return nil, err
	}
	if found == nil {
		if found, err = t.find(ctx, inputs); err != nil {
			return nil, err
		}
	}
	settings := config.StateSync{
		RPCServers: found.RPCServers, TrustHeight: found.TrustHeight, TrustHash: found.TrustHash,
		UseLocalSnapshot: p.UseLocalSnapshot, BackfillBlocks: p.BackfillBlocks,
	}
	if p.TrustPeriod != "" {
		settings.TrustPeriod = inputs.Period
	}
	if files, err = config.SetStateSync(files, settings); err != nil {
		return nil, refused(err)
	}
	if err := t.write(files); err != nil {
		return nil, err
	}
	return found, errors.Join(completion.Save(task.Records, api.ConfigureStateSync, inputs, found), t.Node.Mark(stateSyncMark))
}

func (t *Tasks) stateSyncInputs(files config.Files, p wire.ConfigureStateSync) (stateSyncInputs, error) {
	in := stateSyncInputs{ConfigureStateSync: p, Period: defaultTrustPeriod, Rules: trustRules}
	configured, _ := section(files.Config, "statesync")["trust-period"].(string)
	for _, text := range []string{configured, p.TrustPeriod} {
		if period, err := time.ParseDuration(text); err == nil && period > 0 {
			in.Period = period
		}
	}
	var err error
	if in.Candidates, err = candidates(p.RPCServers, config.Peers(files)); err != nil {
		return in, err
	}
	if p.UseLocalSnapshot {
		in.LocalSnapshot, err = t.localSnapshot(files)
	}
	return in, err
}

func foundBefore(records engine.Records, inputs stateSyncInputs) (*wire.StateSync, error) {
	rec, err := completion.Find(records, api.ConfigureStateSync)
	if err != nil || !rec.Matches(inputs) || time.Since(rec.DoneAt) > staleAfter {
		return nil, err
	}
	found := new(wire.StateSync)
	if err := json.Unmarshal(rec.Result, found); err != nil {
		return nil, fmt.Errorf("reading the earlier result: %w", err)
	}
	return found, nil
}

// candidates are the servers to ask, each once: those that were named, or the hosts of
// the persistent peers.
func candidates(named, peers []string) ([]string, error) {
	addresses := named
	if len(named) == 0 {
		for _, peer := range peers {
			_, address, _ := strings.Cut(peer, "@")
			host, _, err := net.SplitHostPort(address)
			if err == nil && len(addresses) < maxPeerWitnesses {
				addresses = append(addresses, net.JoinHostPort(host, rpcPort))
			}
		}
	}
	seen := map[string]bool{}
	var found []string
	for i, address := range addresses {
		server, err := rpc.ParseServer(address)
		if err != nil {
			return nil, api.InvalidField(fmt.Sprintf("rpcServers[%d]", i), "%w", err)
		}
		if !seen[server.String()] {
			seen[server.String()] = true
			found = append(found, server.String())
		}
	}
	return found, nil
}

func (t *Tasks) localSnapshot(files config.Files) (int64, error) {
	dir, err := config.SnapshotDir(files, t.Node.Home)
	if err != nil {
		return 0, refused(err)
	}
	heights, err := home.SnapshotsIn(dir)
	if err != nil {
		return 0, err
	}
	if len(heights) == 0 {
		return 0, api.Terminal(api.CodePrecondition, errors.New("there is no local snapshot")).WithHint("run snapshot-restore first")
	}
	return heights[len(heights)-1], nil
}

// find asks all candidates and gives a trust point on which the usable ones agree.
func (t *Tasks) find(ctx context.Context, in stateSyncInputs) (*wire.StateSync, error) {
	if len(in.Candidates) == 0 {
		return nil, api.Terminal(api.CodePrecondition, errors.New("no RPC witness is known")).
			WithHint("give rpcServers, or set persistent peers first")
	}
	s := &search{chainID: t.Node.ChainID, connect: t.Witness, in: in, now: time.Now()}
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	point, err := s.trustPoint(ctx)
	if err != nil {
		return nil, err
	}
	return s.result(point), nil
}
