package export

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

// standingRecord is where the standing export is kept.
const standingRecord = "standing export"

// standing is the record of the standing export.
type standing struct {
	Export     wire.ResultExport `json:"export"`
	Hash       string            `json:"hash"`
	Divergence *api.Divergence   `json:"divergence,omitempty"`
}

// Standing is the state of the standing export. The zero value has none.
type Standing struct {
	once    sync.Once
	changed chan struct{}
	// write makes read, change and write of the record one step.
	write sync.Mutex

	mu    sync.Mutex
	shown *api.StandingExport
}

// Document is the standing export as the node document shows it; nil when there is none.
func (s *Standing) Document() *api.StandingExport {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown == nil {
		return nil
	}
	return new(*s.shown)
}

// show changes what is shown of an export, unless another one was asked for meanwhile.
func (s *Standing) show(of *standing, change func(*api.StandingExport)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of == nil || s.shown == nil || s.shown.Hash != of.Hash {
		return
	}
	next := *s.shown
	change(&next)
	s.shown = &next
}

// changes has a value whenever another export was asked for.
func (s *Standing) changes() chan struct{} {
	s.once.Do(func() { s.changed = make(chan struct{}, 1) })
	return s.changed
}

// set says which export should run from now on. One that runs already continues as it is.
func (t *Tasks) set(_ context.Context, task engine.Task, p wire.SetResultExport) (any, error) {
	t.Standing.write.Lock()
	defer t.Standing.write.Unlock()
	before, err := readStanding(task.Records)
	if err != nil {
		return nil, err
	}
	now, err := replace(task.Records, before, p)
	if err != nil {
		return nil, err
	}
	t.Standing.introduce(now) // whoever looks next sees what was asked for
	select {
	case t.Standing.changes() <- struct{}{}:
	default: // it is to look anyway
	}
	return nil, nil
}

func replace(records engine.Records, before *standing, p wire.SetResultExport) (*standing, error) {
	if p.Export == nil {
		return nil, records.Delete(standingRecord)
	}
	next := &standing{Export: *p.Export, Hash: p.Hash}
	if before != nil && before.Divergence != nil && record(before.Export) == record(next.Export) {
		if before.Export == next.Export && !p.Again {
			next.Divergence = before.Divergence
		} else if err := putHeight(records, next.Export, before.Divergence.Height-1); err != nil {
			return nil, err // the block that differed is compared once more
		}
	}
	return next, next.put(records)
}

func putHeight(records engine.Records, p wire.ResultExport, height int64) error {
	if err := records.Put(record(p), strconv.AppendInt(nil, height, 10)); err != nil {
		return fmt.Errorf("recording the export: %w", err)
	}
	return nil
}

func readStanding(records engine.Records) (*standing, error) {
	data, err := records.Get(standingRecord)
	if err != nil || data == nil {
		return nil, err
	}
	s := &standing{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("reading the standing export: %w", err)
	}
	return s, nil
}

func (s *standing) put(records engine.Records) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("storing the standing export: %w", err)
	}
	if err := records.Put(standingRecord, data); err != nil {
		return fmt.Errorf("storing the standing export: %w", err)
	}
	return nil
}

// introduce shows a standing export that has just been read; nil when there is none.
func (s *Standing) introduce(is *standing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is == nil {
		s.shown = nil
		return
	}
	next := &api.StandingExport{
		Hash: is.Hash, Bucket: objectstore.WithoutQuery(is.Export.Bucket), Prefix: is.Export.Prefix,
		CanonicalRPC: is.Export.CanonicalRPC, Divergence: is.Divergence,
	}
	if s.shown != nil && s.shown.Hash == is.Hash {
		next.Height, next.Problem = s.shown.Height, s.shown.Problem
	}
	s.shown = next
}
