package configfiles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/completion"
)

const (
	stateSyncMark = "statesync"
	// trustDistance is how far below the head a block is trusted.
	trustDistance = 2000
	// wantWitnesses is how many servers the light client asks for.
	wantWitnesses = 2
	rpcPort       = "26657"
	// staleAfter is how long a found trust point is given back without asking the
	// witnesses again.
	staleAfter = time.Hour
)

// Witness is the part of another node's RPC that state sync needs.
type Witness interface {
	Status(ctx context.Context) (*rpc.Status, error)
	Block(ctx context.Context, height int64) (*rpc.Block, error)
}

// stateSyncInputs is everything the settings depend on.
type stateSyncInputs struct {
	wire.ConfigureStateSync
	Candidates    []string
	LocalSnapshot int64
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
	inputs := stateSyncInputs{ConfigureStateSync: p, Candidates: candidates(p.RPCServers, config.Peers(files))}
	if p.UseLocalSnapshot {
		if inputs.LocalSnapshot, err = t.localSnapshot(); err != nil {
			return nil, err
		}
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
		if settings.TrustPeriod, err = time.ParseDuration(p.TrustPeriod); err != nil {
			return nil, api.InvalidField("trustPeriod", "%w", err)
		}
	}
	if files, err = config.SetStateSync(files, settings); err != nil {
		return nil, refused(err)
	}
	if err := t.write(files); err != nil {
		return nil, err
	}
	return found, errors.Join(completion.Save(task.Records, api.ConfigureStateSync, inputs, found), t.Node.Mark(stateSyncMark))
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

// candidates are the servers to ask: those that were named, or the hosts of the
// first persistent peers.
func candidates(named, peers []string) []string {
	if len(named) > 0 {
		return named
	}
	var found []string
	for _, peer := range peers {
		_, address, _ := strings.Cut(peer, "@")
		host, _, err := net.SplitHostPort(address)
		if err == nil && len(found) < wantWitnesses {
			found = append(found, net.JoinHostPort(host, rpcPort))
		}
	}
	return found
}

func (t *Tasks) localSnapshot() (int64, error) {
	heights, err := t.Node.Home.SnapshotHeights()
	if err != nil {
		return 0, err
	}
	if len(heights) == 0 {
		return 0, api.Terminal(api.CodePrecondition, errors.New("there is no local snapshot")).WithHint("run snapshot-restore first")
	}
	return heights[len(heights)-1], nil
}

// reached is a witness that answered.
type reached struct {
	address string
	client  Witness
	status  *rpc.Status
}

// find asks all candidates and gives a trust point on which all that answer
// agree.
func (t *Tasks) find(ctx context.Context, in stateSyncInputs) (*wire.StateSync, error) {
	if len(in.Candidates) == 0 {
		return nil, api.Terminal(api.CodePrecondition, errors.New("no RPC witness is known")).
			WithHint("give rpcServers, or set persistent peers first")
	}
	witnesses, warnings, err := t.reach(ctx, in.Candidates)
	if err != nil {
		return nil, err
	}
	height := in.LocalSnapshot
	if height == 0 {
		height = trustHeight(witnesses)
	}
	hash, err := agreedHash(ctx, witnesses, height)
	if err != nil {
		return nil, err
	}
	found := &wire.StateSync{TrustHeight: height, TrustHash: hash, Warnings: warnings}
	for _, w := range witnesses {
		found.RPCServers = append(found.RPCServers, w.address)
	}
	if len(found.RPCServers) == 1 {
		// seid wants two names; it does not check that they are two servers.
		found.RPCServers = append(found.RPCServers, found.RPCServers[0])
		found.Warnings = append(found.Warnings, "only one witness answered, so nobody can contradict it")
	}
	return found, nil
}

func (t *Tasks) reach(ctx context.Context, addresses []string) (witnesses []reached, warnings []string, err error) {
	for _, address := range addresses {
		client := t.Witness(address)
		status, err := client.Status(ctx)
		switch {
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("%s does not answer: %v", address, err))
		case status.NodeInfo.Network != t.Node.ChainID:
			warnings = append(warnings, fmt.Sprintf("%s is on chain %q", address, status.NodeInfo.Network))
		default:
			witnesses = append(witnesses, reached{address, client, status})
		}
	}
	if len(witnesses) == 0 {
		return nil, nil, api.Retryable(api.CodeUnavailable,
			fmt.Errorf("no reachable RPC witness among %v: %s", addresses, strings.Join(warnings, "; ")))
	}
	return witnesses, warnings, nil
}

// trustHeight is some way below the lowest head, but above what the witnesses
// have pruned. On a young chain that is near its first block.
func trustHeight(witnesses []reached) int64 {
	lowest := func(a, b reached) int {
		return int(a.status.SyncInfo.LatestBlockHeight - b.status.SyncInfo.LatestBlockHeight)
	}
	head := slices.MinFunc(witnesses, lowest).status.SyncInfo.LatestBlockHeight
	height := max(head-trustDistance, 1)
	for _, w := range witnesses {
		if earliest := w.status.SyncInfo.EarliestBlockHeight; earliest > 1 {
			height = max(height, earliest+1)
		}
	}
	return max(min(height, head), 1)
}

// agreedHash is the block hash at a height, from every witness.
func agreedHash(ctx context.Context, witnesses []reached, height int64) (string, error) {
	var hash, from string
	for _, w := range witnesses {
		block, err := w.client.Block(ctx, height)
		if err != nil {
			return "", api.Retryable(api.CodeUnavailable, fmt.Errorf("asking %s for block %d: %w", w.address, height, err))
		}
		if len(block.Hash) != 64 {
			return "", api.Retryable(api.CodeUnavailable, fmt.Errorf("%s gives block %d the hash %q", w.address, height, block.Hash))
		}
		if hash != "" && !strings.EqualFold(hash, block.Hash) {
			return "", api.Terminal(api.CodeIntegrity,
				fmt.Errorf("witnesses disagree about block %d: %s says %s, %s says %s", height, from, hash, w.address, block.Hash)).
				WithHint("one of the witnesses is on a fork or lies; leave it out of rpcServers")
		}
		hash, from = block.Hash, w.address
	}
	return hash, nil
}
