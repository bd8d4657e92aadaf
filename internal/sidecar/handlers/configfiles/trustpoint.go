package configfiles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Numbers that follow from how seid's light client works; ADR 0021 has the reasons.
const (
	// trustDistance is how far below the head a block is trusted. Above the trusted block
	// seid skips ahead and needs a header or two; below it seid fetches one header after
	// the other and gives up after 30 s, so the trusted block has to be below every
	// snapshot that peers offer.
	trustDistance = 50_000
	// shallow is a distance at which snapshots may well be older.
	shallow = 10_000
	// pruneShare of what a witness has is left as a margin: it keeps deleting old
	// blocks while the node is set up.
	pruneShare = 10
	// snapshotMargin is how long a local snapshot has to stay within the trust period:
	// the time between this task and the moment seid has verified the header.
	snapshotMargin = time.Hour
	// headersAbove a snapshot are verified before it is restored.
	headersAbove = 2
)

// trustPoint is the block that a light client starts from.
type trustPoint struct {
	height int64
	hash   string
}

func (s *search) trustPoint(ctx context.Context) (trustPoint, error) {
	if s.in.LocalSnapshot > 0 {
		return s.ofSnapshot(ctx, s.in.LocalSnapshot)
	}
	return s.belowHead(ctx)
}

// ofSnapshot trusts the block of the snapshot that is on the volume: any later one could
// only be verified backwards, and an earlier one expires sooner.
func (s *search) ofSnapshot(ctx context.Context, height int64) (trustPoint, error) {
	err := s.keep(func(w usable) (string, bool) {
		switch {
		case w.earliest > height:
			return fmt.Sprintf("has deleted block %d, its first is %d", height, w.earliest), false
		case w.latest < height+headersAbove:
			return fmt.Sprintf("is at block %d, seid asks for block %d to verify the snapshot", w.latest, height+headersAbove), true
		}
		return "", false
	})
	if err != nil {
		return trustPoint{}, err
	}
	point, err := s.agree(ctx, height)
	if err != nil {
		return trustPoint{}, err
	}
	made, err := s.timeOf(ctx, height)
	if err != nil {
		return trustPoint{}, err
	}
	if age := s.now.Sub(made); age+snapshotMargin > s.in.Period {
		return trustPoint{}, api.Terminal(api.CodePrecondition, fmt.Errorf(
			"the local snapshot of block %d was made %s ago, and seid trusts no block older than the trust period of %s",
			height, age.Round(time.Minute), s.in.Period)).
			WithHint("restore a newer snapshot, or raise trustPeriod, at most to the time that stake stays bonded")
	}
	return point, nil
}

// belowHead trusts a block that is below the snapshots of the peers, that at least two
// witnesses will still have when seid asks, and that is young enough.
func (s *search) belowHead(ctx context.Context) (trustPoint, error) {
	head := s.head()
	err := s.keep(func(w usable) (string, bool) {
		if w.latest+maxBehind < head {
			return fmt.Sprintf("is at block %d, others are at %d: it is catching up", w.latest, head), true
		}
		return "", false
	})
	if err != nil {
		return trustPoint{}, err
	}
	height := s.kept(max(head-trustDistance, 1))
	err = s.keep(func(w usable) (string, bool) {
		if oldest(w) > height && w.earliest > 1 {
			return fmt.Sprintf("keeps blocks from %d on only; block %d is needed, with a margin", w.earliest, height), false
		}
		return "", false
	})
	if err != nil {
		return trustPoint{}, err
	}
	// Whoever lies about the block is dropped before anybody is asked for its time.
	point, err := s.agree(ctx, min(height, s.lowestHead()))
	if err != nil {
		return trustPoint{}, err
	}
	young, err := s.youngEnough(ctx, point.height, min(head, s.lowestHead()))
	if err != nil {
		return trustPoint{}, err
	}
	if young != point.height {
		if point, err = s.agree(ctx, young); err != nil {
			return trustPoint{}, err
		}
	}
	if point.height > 1 && head-point.height < shallow {
		s.warnings = append(s.warnings, fmt.Sprintf(
			"the trusted block %d is only %d blocks below the head; snapshots that are older than it may be refused by seid", point.height, head-point.height))
	}
	return point, nil
}

// oldest is the lowest block that a witness will surely have for some time.
func oldest(w usable) int64 {
	if w.earliest <= 1 {
		return 1
	}
	return w.earliest + (w.latest-w.earliest)/pruneShare
}

// kept raises a height to what as many witnesses have as it takes: the deepest ones.
func (s *search) kept(height int64) int64 {
	depths := make([]int64, 0, len(s.usable))
	for _, w := range s.usable {
		depths = append(depths, oldest(w))
	}
	slices.Sort(depths)
	return max(height, depths[min(wantWitnesses, len(depths))-1])
}

func (s *search) lowestHead() int64 {
	lowest := s.usable[0].latest
	for _, w := range s.usable {
		lowest = min(lowest, w.latest)
	}
	return lowest
}

// youngEnough raises a height until its block is at most half as old as the trust period
// allows: seid compares again at each start, and a first sync may take days.
func (s *search) youngEnough(ctx context.Context, height, head int64) (int64, error) {
	var asking error
	tooOld := func(at int64) bool {
		made, err := s.timeOf(ctx, at)
		asking = errors.Join(asking, err)
		return s.now.Sub(made) > s.in.Period/2
	}
	old := tooOld(height)
	if !old || asking != nil {
		return height, asking
	}
	above := sort.Search(int(head-height), func(i int) bool { return asking != nil || !tooOld(height+1+int64(i)) })
	if asking != nil {
		return 0, asking
	}
	if height += 1 + int64(above); height > head {
		return 0, api.Terminal(api.CodePrecondition, fmt.Errorf(
			"the newest block of the witnesses, %d, is older than half of the trust period of %s", head, s.in.Period)).
			WithHint("the chain does not make blocks; raise trustPeriod, or wait until it does")
	}
	return height, nil
}

// timeOf is when a block was made, as the first witness that can tell has it.
func (s *search) timeOf(ctx context.Context, height int64) (time.Time, error) {
	var refusals error
	for _, w := range s.usable {
		commit, err := w.client.Commit(ctx, height)
		if err == nil {
			return commit.Header.Time, nil
		}
		refusals = errors.Join(refusals, fmt.Errorf("querying %s for block %d: %w", w.address, height, err))
	}
	if errors.Is(refusals, rpc.ErrUnreachable) {
		return time.Time{}, api.Retryable(api.CodeUnavailable, refusals)
	}
	return time.Time{}, api.Terminal(api.CodePrecondition, refusals).WithHint("name witnesses that have the block in rpcServers")
}
