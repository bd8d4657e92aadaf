package configfiles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

const (
	// wantWitnesses is how many servers seid wants: one to ask and one to contradict it.
	wantWitnesses = 2
	// maxBehind is how far a witness may be behind the others. Nodes call themselves
	// behind at 300 blocks.
	maxBehind = 1000
)

// Witness is the part of another node's RPC that state sync needs.
type Witness interface {
	Status(ctx context.Context) (*rpc.Status, error)
	Commit(ctx context.Context, height int64) (*rpc.Commit, error)
}

// usable is a witness that passed all checks so far.
type usable struct {
	address string
	client  Witness
	nodeID  string
	latest  int64
	// earliest is the lowest block that the witness still has.
	earliest int64
}

// dropped is a witness that cannot be used.
type dropped struct {
	address, why string
	// temporary: it may be usable later.
	temporary bool
}

// search looks for a trust point. Witnesses leave it as they fail a check.
type search struct {
	chainID string
	connect func(address string) Witness
	in      stateSyncInputs
	now     time.Time

	usable   []usable
	dropped  []dropped
	warnings []string
}

// answer is what a candidate says about itself.
type answer struct {
	client Witness
	status *rpc.Status
	err    error
}

// ask asks all candidates at once: each that is silent takes its whole timeout.
func (s *search) ask(ctx context.Context) []answer {
	answers := make([]answer, len(s.in.Candidates))
	var wg sync.WaitGroup
	for i, address := range s.in.Candidates {
		answers[i].client = s.connect(address)
		wg.Go(func() { answers[i].status, answers[i].err = answers[i].client.Status(ctx) })
	}
	wg.Wait()
	return answers
}

// reach finds out which candidates are nodes of the chain.
func (s *search) reach(ctx context.Context) error {
	for i, a := range s.ask(ctx) {
		address, client, status, err := s.in.Candidates[i], a.client, a.status, a.err
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			s.drop(address, true, "does not answer: %v", err)
		case status.NodeInfo.Network != s.chainID:
			s.drop(address, false, "is on chain %q, not %q", status.NodeInfo.Network, s.chainID)
		case status.SyncInfo.LatestBlockHeight < 1:
			s.drop(address, true, "has no block yet")
		default:
			s.usable = append(s.usable, usable{
				address: address, client: client, nodeID: status.NodeInfo.ID,
				latest: status.SyncInfo.LatestBlockHeight, earliest: max(status.SyncInfo.EarliestBlockHeight, 1),
			})
		}
	}
	return s.enough()
}

func (s *search) drop(address string, temporary bool, why string, args ...any) {
	s.dropped = append(s.dropped, dropped{address: address, temporary: temporary, why: fmt.Sprintf(why, args...)})
}

// keep drops the witnesses for which why has an answer.
func (s *search) keep(why func(usable) (reason string, temporary bool)) error {
	s.usable = slices.DeleteFunc(s.usable, func(w usable) bool {
		reason, temporary := why(w)
		if reason != "" {
			s.drop(w.address, temporary, "%s", reason)
		}
		return reason != ""
	})
	return s.enough()
}

// need is how many witnesses it takes. Whoever names a single one knows that nobody can
// contradict it.
func (s *search) need() int { return min(wantWitnesses, len(s.in.Candidates)) }

// enough refuses to continue with fewer witnesses than it takes and names each one that was
// dropped. Waiting helps only if those that may come back are enough.
func (s *search) enough() error {
	if len(s.usable) >= s.need() {
		return nil
	}
	possible := len(s.usable)
	reasons := make([]string, 0, len(s.dropped))
	for _, d := range s.dropped {
		reasons = append(reasons, d.address+" "+d.why)
		if d.temporary {
			possible++
		}
	}
	err := fmt.Errorf("%d of %d RPC witnesses can be used, state sync needs %d: %s",
		len(s.usable), len(s.in.Candidates), s.need(), strings.Join(reasons, "; "))
	if possible >= s.need() {
		return api.Retryable(api.CodeUnavailable, err).WithHint("check that the witnesses run and can be reached from the node's pod")
	}
	return api.Terminal(api.CodePrecondition, err).WithHint("name at least two usable RPC servers of chain %s in rpcServers", s.chainID)
}

// head is a height that the chain surely has: one that a second witness confirms, if
// there is one.
func (s *search) head() int64 {
	heights := make([]int64, 0, len(s.usable))
	for _, w := range s.usable {
		heights = append(heights, w.latest)
	}
	slices.Sort(heights)
	return heights[max(0, len(heights)-wantWitnesses)]
}

// agree asks every witness for the block at a height and follows the majority.
func (s *search) agree(ctx context.Context, height int64) (trustPoint, error) {
	says := map[string]string{}
	count := map[string]int{}
	err := s.keep(func(w usable) (string, bool) {
		commit, err := w.client.Commit(ctx, height)
		switch {
		case err != nil:
			return fmt.Sprintf("does not give block %d: %v", height, err), errors.Is(err, rpc.ErrUnreachable)
		case len(commit.Hash) != 64:
			return fmt.Sprintf("gives block %d the hash %q", height, commit.Hash), false
		}
		says[w.address] = strings.ToUpper(commit.Hash)
		count[says[w.address]]++
		return "", false
	})
	if err := errors.Join(ctx.Err(), err); err != nil {
		return trustPoint{}, err
	}
	hash := majority(count, len(s.usable))
	if hash == "" {
		return trustPoint{}, s.disagreement(height, says)
	}
	return trustPoint{height: height, hash: hash}, s.keep(func(w usable) (string, bool) {
		if says[w.address] == hash {
			return "", false
		}
		return fmt.Sprintf("says that block %d is %s, %d others say %s: it is on a fork or faulty", height, says[w.address], count[hash], hash), false
	})
}

func majority(count map[string]int, of int) string {
	for hash, n := range count {
		if 2*n > of {
			return hash
		}
	}
	return ""
}

func (s *search) disagreement(height int64, says map[string]string) error {
	claims := make([]string, 0, len(s.usable))
	for _, w := range s.usable {
		claims = append(claims, w.address+" says "+says[w.address])
	}
	return api.Terminal(api.CodeIntegrity, fmt.Errorf("witnesses disagree about block %d: %s", height, strings.Join(claims, ", "))).
		WithHint("one of the witnesses is on a fork or faulty; remove it from rpcServers, or add a third one as a tiebreaker")
}

func (s *search) result(point trustPoint) *wire.StateSync {
	found := &wire.StateSync{TrustHeight: point.height, TrustHash: point.hash}
	for _, d := range s.dropped {
		found.Warnings = append(found.Warnings, d.address+" "+d.why+"; it is not used")
	}
	found.Warnings = append(found.Warnings, s.warnings...)
	ids := map[string]string{}
	for _, w := range s.usable {
		found.RPCServers = append(found.RPCServers, w.address)
		if other := ids[w.nodeID]; other != "" && w.nodeID != "" {
			found.Warnings = append(found.Warnings, fmt.Sprintf("%s and %s are the same node, so the block is not cross-checked", other, w.address))
		}
		ids[w.nodeID] = w.address
	}
	if len(found.RPCServers) == 1 {
		// seid wants two names; it does not check that they are two servers.
		found.RPCServers = append(found.RPCServers, found.RPCServers[0])
		found.Warnings = append(found.Warnings, "there is only one witness, so the block is not cross-checked")
	}
	return found
}
