package snapshot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

const (
	// publishEvery is how often it is looked for a new snapshot.
	publishEvery = 15 * time.Second
	// retryPublish is the pause after a failure. A bucket that refuses is not asked all the time.
	retryPublish = 5 * time.Minute
	// claimPause is how soon it is looked again whether another node has published.
	claimPause = time.Minute
)

// Publisher uploads every new snapshot of the node to the bucket, as publish-snapshots has
// told it to. One is uploaded at a time; of those that are finished meanwhile the newest is
// next.
type Publisher struct {
	Tasks *Tasks
	// Look is the node as it is now.
	Look func(context.Context) api.Node
	// Sweep removes what a killed process has left. What an upload makes now must not be taken
	// for that later, so it does so once for all tasks of this process.
	Sweep func()
	Clock clock.WithTicker
	Log   *slog.Logger

	// tidied is the setting for which the bucket was tidied up; 0 before the first time.
	tidied int32
	// notBefore is when the next try is due after a failure.
	notBefore time.Time
	// passed is a height that is left alone because others have published newer ones.
	passed int64

	mu  sync.Mutex
	err error
}

// Run publishes until ctx ends. It must not run before this process owns the home.
func (p *Publisher) Run(ctx context.Context) {
	if p.Sweep != nil {
		p.Sweep()
	}
	tick := p.Clock.NewTicker(publishEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		p.Round(ctx)
		select {
		case <-tick.C():
		case <-ctx.Done():
		}
	}
}

// Round publishes the newest snapshot if there is a new one. What went wrong is told by the
// node's document and tried again.
func (p *Publisher) Round(ctx context.Context) {
	keep, err := p.Tasks.keep()
	if err == nil && keep == 0 {
		p.tidied, p.passed, p.notBefore = 0, 0, time.Time{}
		p.setTrouble(nil)
		return
	}
	if p.Clock.Now().Before(p.notBefore) {
		return
	}
	tried := true
	if err == nil {
		tried, err = p.publishNewest(ctx, keep)
	}
	if !tried || ctx.Err() != nil || errors.Is(err, errTurnedOff) || errors.Is(err, errReset) {
		return // there is nothing to do, or somebody has ended it
	}
	if err != nil {
		p.notBefore = p.Clock.Now().Add(retryPublish)
		p.Tasks.Metrics.publishFailed()
		p.Log.Warn("publishing a snapshot", "error", err)
	}
	p.setTrouble(err)
}

var errNoBucket = errors.New("no snapshot bucket is configured")

// publishNewest looks for a snapshot that is not in the bucket yet. A node that is not in
// sync has no time for an upload, and what it could publish is old.
func (p *Publisher) publishNewest(ctx context.Context, keep int32) (tried bool, err error) {
	if p.Tasks.Node.SnapshotBucket == "" {
		return true, errNoBucket
	}
	doc := p.Look(ctx)
	if doc.Sync.State != api.SyncInSync || doc.Sync.Draining || len(doc.Snapshots) == 0 {
		return false, nil
	}
	newest := doc.Snapshots[0].Height
	last, err := p.Tasks.lastPublished()
	if err != nil {
		return true, err
	}
	isNew := newest > last.Height && newest != p.passed
	if !isNew && p.tidied == keep {
		return false, nil
	}
	if len(doc.Home.NodeID) < shortID {
		return true, fmt.Errorf("the node's id %q cannot be used", doc.Home.NodeID)
	}
	u := &publication{tasks: p.Tasks, nodeID: doc.Home.NodeID, keep: int(keep), now: p.Clock.Now, pace: &pace{look: p.Look, clock: p.Clock, last: p.Clock.Now()}}
	came, err := u.run(ctx, newest, isNew)
	if err != nil {
		return true, err
	}
	p.tidied = keep
	switch came {
	case cameOutdated:
		p.passed = newest
	case cameLater:
		p.notBefore = p.Clock.Now().Add(claimPause)
	}
	return true, nil
}

func (p *Publisher) setTrouble(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

// trouble is the last failure in words that are the same at every try: answers of a store hold
// the ids of requests.
func (p *Publisher) trouble() string {
	p.mu.Lock()
	err := p.err
	p.mu.Unlock()
	if err == nil {
		return ""
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("the upload took longer than %s", p.Tasks.uploadTimeout())
	}
	if e, ok := errors.AsType[*objectstore.Error](err); ok {
		text := fmt.Sprintf("%s %s: %s", e.Op, e.Bucket, e.Kind)
		if hint := e.Hint(); hint != "" {
			text += ": " + hint
		}
		return text
	}
	return err.Error()
}
