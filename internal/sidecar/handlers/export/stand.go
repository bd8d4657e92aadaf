package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

// The pause after a failure: short at first, and long while nothing works.
const (
	pauseFirst = 5 * time.Second
	pauseMost  = 5 * time.Minute
)

// Start recalls the standing export and sees to it in the background until ctx ends.
func (t *Tasks) Start(ctx context.Context, records engine.Records) error {
	if _, err := t.recall(records); err != nil {
		return err
	}
	go t.Stand(ctx, records)
	return nil
}

// Stand sees to the standing export until ctx ends: whatever was asked for last, also by an
// earlier process, for as long as blocks agree.
func (t *Tasks) Stand(ctx context.Context, records engine.Records) {
	for ctx.Err() == nil {
		work, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() { t.stand(work, records) })
		select {
		case <-t.Standing.changes():
		case <-ctx.Done():
		}
		cancel()
		running.Wait()
	}
}

// stand does what the record says. Whatever goes wrong is told and tried again: nobody else
// would.
func (t *Tasks) stand(ctx context.Context, records engine.Records) {
	for pause, last := pauseFirst, int64(-1); ; pause = min(2*pause, pauseMost) {
		s, height, err := t.standOnce(ctx, records)
		if err == nil || ctx.Err() != nil {
			return
		}
		if height != last {
			pause, last = pauseFirst, height
		}
		t.Standing.show(s, func(doc *api.StandingExport) { doc.Problem = words(err) })
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(t.Pause, pause)):
		}
	}
}

// words are an error in words that stay the same while the trouble does: the errors of stores
// carry the number of the request.
func words(err error) string {
	if e, ok := errors.AsType[*objectstore.Error](err); ok && e.Hint() != "" {
		return fmt.Sprintf("%s %s: %s", e.Op, e.Bucket, e.Hint())
	}
	return err.Error()
}

// standOnce compares until a block differs or something goes wrong, and says how far it came.
func (t *Tasks) standOnce(ctx context.Context, records engine.Records) (s *standing, height int64, err error) {
	if s, err = t.recall(records); err != nil || s == nil || s.Divergence != nil {
		return s, 0, err
	}
	bucket, err := objectstore.Open(ctx, objectstore.URL(s.Export.Bucket, s.Export.Region))
	if err != nil {
		return s, 0, err
	}
	defer func() { _ = bucket.Close() }()
	task := engine.Task{Records: records, Progress: func(api.Progress) {}}
	j := &job{Tasks: t, params: s.Export, bucket: bucket, task: task, shadow: t.shadow(s.Export.RPCEndpoint)}
	j.trouble = func(problem string) {
		t.Standing.show(s, func(doc *api.StandingExport) { doc.Problem = problem })
	}
	j.keep = func() error { return t.keepStanding(records, s, j) }
	if j.last, err = t.lastHeight(records, s.Export); err != nil {
		return s, 0, err
	}
	t.Standing.show(s, func(doc *api.StandingExport) { doc.Height = j.last })
	err = j.compareAll(ctx)
	return s, j.last, err
}

// recall reads and shows what was asked for last, also by an earlier process. Whoever looks
// before it continues must not believe that there is nothing.
func (t *Tasks) recall(records engine.Records) (*standing, error) {
	t.Standing.write.Lock()
	defer t.Standing.write.Unlock()
	s, err := readStanding(records)
	if err == nil {
		t.Standing.introduce(s)
	}
	return s, err
}

// keepStanding shows how far the export has come, and stores what ends it, unless another one
// was asked for meanwhile.
func (t *Tasks) keepStanding(records engine.Records, s *standing, j *job) error {
	if j.divergence != nil {
		t.Standing.write.Lock()
		defer t.Standing.write.Unlock()
		now, err := readStanding(records)
		if err != nil {
			return err
		}
		if now == nil || *now != *s {
			return errReplaced
		}
		ended := *s
		ended.Divergence = j.divergence
		if err := ended.put(records); err != nil {
			return err
		}
	}
	t.Standing.show(s, func(doc *api.StandingExport) { doc.Height, doc.Divergence = j.last, j.divergence })
	return nil
}

var errReplaced = errors.New("another export was requested")

// compareAll compares from where it left off. Blocks that this node does not have any more, or
// never had because it began with a snapshot, are passed over; the names of the pages show it.
func (j *job) compareAll(ctx context.Context) error {
	for {
		err := j.compare(ctx)
		gone, ok := errors.AsType[*prunedError](err)
		if !ok || gone.url != j.shadow.URL() {
			return err
		}
		j.last = gone.earliest - 1
	}
}
