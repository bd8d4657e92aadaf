package export

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Difference is one thing on which two nodes do not agree.
type Difference struct {
	// Layer is 0 for block headers, 1 for transaction results, 2 for EVM state.
	Layer     int    `json:"layer"`
	Field     string `json:"field"`
	Shadow    string `json:"shadow"`
	Canonical string `json:"canonical"`
}

// compareLine is one block of a page of comparisons.
type compareLine struct {
	Height      int64        `json:"height"`
	ComparedAt  time.Time    `json:"compared_at"`
	Match       bool         `json:"match"`
	Differences []Difference `json:"differences,omitempty"`
}

// report is what a divergence leaves for people.
type report struct {
	ChainID      string       `json:"chain_id"`
	Height       int64        `json:"height"`
	DetectedAt   time.Time    `json:"detected_at"`
	ShadowRPC    string       `json:"shadow_rpc"`
	CanonicalRPC string       `json:"canonical_rpc"`
	Differences  []Difference `json:"differences"`
	// ShadowSays is the line in which the shadow refuses the canonical block; it has no block of
	// its own to compare then.
	ShadowSays       string          `json:"shadow_says,omitempty"`
	ShadowHeader     rpc.Header      `json:"shadow_header"`
	CanonicalHeader  rpc.Header      `json:"canonical_header"`
	ShadowResults    json.RawMessage `json:"shadow_block_results,omitempty"`
	CanonicalResults json.RawMessage `json:"canonical_block_results,omitempty"`
}

// flushTime is what a cancelled comparison has left to save its work.
const flushTime = 10 * time.Second

// compare walks the blocks of both nodes. It ends at the first difference; a
// survey continues until its task is deleted, and a new process takes it up again.
func (j *job) compare(ctx context.Context) error {
	size := cmp.Or(j.ComparePage, defaultComparePage)
	canonical := rpc.New(j.params.CanonicalRPC)
	var page []compareLine
	for height := j.last + 1; ; height++ {
		found, err := j.compareAt(ctx, canonical, height)
		if err != nil {
			if ctx.Err() != nil && j.params.ContinueOnDivergence {
				return errors.Join(j.flushLate(ctx, page), err)
			}
			return err
		}
		j.trouble("")
		page = append(page, compareLine{Height: height, ComparedAt: found.DetectedAt, Match: len(found.Differences) == 0, Differences: found.Differences})
		j.Metrics.compared(j.Node.ChainID, j.PodName, found.Differences)
		if len(found.Differences) > 0 && !j.params.ContinueOnDivergence {
			return j.diverged(ctx, page, found)
		}
		if len(found.Differences) > 0 && j.divergedAt == 0 {
			j.divergedAt = height
		}
		if int64(len(page)) == size {
			if err := j.flush(ctx, page); err != nil {
				return err
			}
			page = nil
		}
		j.task.Progress(api.Progress{Done: height, Unit: "blocks", Message: "comparing with " + j.params.CanonicalRPC})
	}
}

// diverged leaves the report before the page: whoever sees the page end finds
// the reason there already.
func (j *job) diverged(ctx context.Context, page []compareLine, found *report) error {
	key := fmt.Sprintf("%sdivergence-%d.report.json.gz", j.params.Prefix, found.Height)
	first := found.Differences[0]
	if err := j.putLines(ctx, key, func(enc *json.Encoder) error { return enc.Encode(found) }); err != nil {
		return err
	}
	j.divergedAt = found.Height
	j.divergence = &api.Divergence{Height: found.Height, Layer: first.Layer, Field: first.Field, Report: key, Message: found.ShadowSays}
	return j.flush(ctx, page)
}

func (j *job) flush(ctx context.Context, page []compareLine) error {
	if len(page) == 0 {
		return nil
	}
	first, last := page[0].Height, page[len(page)-1].Height
	key := fmt.Sprintf("%s%d-%d.compare.ndjson.gz", j.params.Prefix, first, last)
	err := j.putLines(ctx, key, func(enc *json.Encoder) error {
		for _, line := range page {
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return j.advance(last)
}

// flushLate saves what a cancelled survey has.
func (j *job) flushLate(ctx context.Context, page []compareLine) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	return j.flush(ctx, page)
}

// compareAt compares one height, waiting until both nodes have it.
func (j *job) compareAt(ctx context.Context, canonical *rpc.Client, height int64) (*report, error) {
	mine, err := j.awaitBlock(ctx, j.shadow, height)
	if refused, ok := errors.AsType[*refusedError](err); ok {
		return j.reportRefusal(ctx, canonical, height, refused.Divergence), nil
	}
	if err != nil {
		return nil, err
	}
	theirs, err := j.awaitBlock(ctx, canonical, height)
	if err != nil {
		return nil, err
	}
	found := &report{
		ChainID: j.Node.ChainID, Height: height, DetectedAt: time.Now().UTC(), ShadowRPC: j.shadow.URL(), CanonicalRPC: canonical.URL(),
		ShadowHeader: mine.Header, CanonicalHeader: theirs.Header,
	}
	found.Differences = compareHeaders(mine.Header, theirs.Header)
	if len(found.Differences) > 0 || j.params.MigrationMode {
		if err := j.compareResults(ctx, canonical, found); err != nil {
			return nil, err
		}
	}
	if j.params.ShadowEVMRPC != "" {
		differences, err := j.compareEVM(ctx, height)
		if err != nil {
			return nil, api.Retryable(api.CodeUnavailable, fmt.Errorf("comparing the EVM state of block %d: %w", height, err))
		}
		found.Differences = append(found.Differences, differences...)
	}
	return found, nil
}

// prunedError is a node that does not have a block any more, or never had it.
type prunedError struct {
	url              string
	height, earliest int64
}

func (e *prunedError) Error() string {
	return fmt.Sprintf("%s has no block %d, its first is %d", e.url, e.height, e.earliest)
}

// awaitBlock polls a node until it has a block, through every outage.
func (j *job) awaitBlock(ctx context.Context, client *rpc.Client, height int64) (*rpc.Block, error) {
	for asked := time.Now(); ; {
		block, err := j.askBlock(ctx, client, height)
		if block != nil || api.DetailOf(err).Terminal {
			return block, err
		}
		if d := j.refusal(client, height, err == nil); d != nil {
			return nil, &refusedError{d}
		}
		if err == nil {
			asked = time.Now() // it answers, and does not have the block yet
		} else if time.Since(asked) > cmp.Or(j.Patience, defaultPatience) {
			j.trouble(client.URL() + " does not answer")
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(cmp.Or(j.Poll, defaultPoll)):
		}
	}
}

// askBlock asks a node once for a block; nil when it does not have it yet.
func (j *job) askBlock(ctx context.Context, client *rpc.Client, height int64) (*rpc.Block, error) {
	status, err := client.Status(ctx)
	if err != nil {
		return nil, err
	}
	if chain := status.NodeInfo.Network; chain != j.Node.ChainID {
		return nil, api.Terminal(api.CodePrecondition, fmt.Errorf("%s is a node of %s, not of %s", client.URL(), chain, j.Node.ChainID))
	}
	if earliest := status.SyncInfo.EarliestBlockHeight; earliest > height {
		return nil, api.Terminal(api.CodePrecondition, &prunedError{client.URL(), height, earliest})
	}
	if status.SyncInfo.LatestBlockHeight < height {
		return nil, nil
	}
	return client.Block(ctx, height)
}

func (j *job) compareResults(ctx context.Context, canonical *rpc.Client, found *report) error {
	mine, err := j.shadow.BlockResults(ctx, found.Height)
	if err != nil {
		return api.Retryable(api.CodeUnavailable, fmt.Errorf("querying %s for the results of block %d: %w", j.shadow.URL(), found.Height, err))
	}
	theirs, err := canonical.BlockResults(ctx, found.Height)
	if err != nil {
		return api.Retryable(api.CodeUnavailable, fmt.Errorf("querying %s for the results of block %d: %w", canonical.URL(), found.Height, err))
	}
	found.ShadowResults, found.CanonicalResults = mine.Raw, theirs.Raw
	found.Differences = append(found.Differences, compareTxs(mine.Txs, theirs.Txs)...)
	return nil
}
