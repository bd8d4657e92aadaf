package handlers_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	_ "github.com/sei-operator/sei-operator/internal/objectstore/drivers"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/snapshot/snapshottest"
)

// endless takes archives that never come to an end.
type endless struct {
	objectstore.Store
	begun chan struct{}
}

func (s endless) PutLarge(ctx context.Context, key, contentType string, src io.Reader, size int64) error {
	if filepath.Ext(key) != ".zst" {
		return s.Store.PutLarge(ctx, key, contentType, src, size)
	}
	close(s.begun)
	<-ctx.Done()
	return ctx.Err()
}

func TestAll_ResetData_EndsTheUploadInsteadOfWaitingForIt(t *testing.T) {
	begun := make(chan struct{})
	var open objectstore.Opener
	open = objectstore.Register(func(ctx context.Context, address string) (objectstore.Store, error) {
		s, err := open(ctx, address)
		return endless{s, begun}, err
	})
	t.Cleanup(func() { objectstore.Register(open) })

	home, bucket := t.TempDir(), t.TempDir()
	chunk := filepath.Join(home, "data/snapshots/100/1/0")
	if err := os.MkdirAll(filepath.Dir(chunk), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(chunk, []byte("chunk"), 0o600); err != nil {
		t.Fatal(err)
	}
	snapshottest.Index(t, filepath.Join(home, "data/snapshots/metadata.db"), snapshottest.Of(100, []byte("chunk")))
	all, view := handlers.All(handlers.Config{Home: home, ChainID: "test-1", SnapshotBucket: "file://" + bucket})
	harness := handlertest.New(all)
	handlertest.Must[any](t, harness, api.PublishSnapshots, `{"keep":1}`)
	p := view.Publisher
	p.Clock, p.Log = clock.RealClock{}, slog.New(slog.DiscardHandler)
	p.Look = func(context.Context) api.Node {
		return api.Node{
			Home: api.Home{NodeID: "aaaaaaaaaaaaaaaaaaaa"}, Sync: api.Sync{State: api.SyncInSync}, Snapshots: []api.Snapshot{{Height: 100, Format: 1, Chunks: 1}},
		}
	}
	ended := make(chan struct{})
	go func() {
		p.Round(t.Context())
		close(ended)
	}()
	<-begun
	handlertest.Must[any](t, harness, api.ResetData, `{}`)
	<-ended
	if got, err := p.Published(); err != nil || got.Height != 0 || got.Error != "" || got.Keep != 1 {
		t.Errorf("published = %+v, %v", got, err)
	}
	if left := handlertest.Files(t, bucket); len(left) != 0 {
		t.Errorf("the bucket has %v", left)
	}
	if left := handlertest.Files(t, filepath.Join(home, "data")); len(left) != 1 {
		t.Errorf("beside the signing state there is %v", left)
	}
}
