package snapshot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/snapshots"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/snapshot"
)

// node ids of publishers, and the short forms in the names of what they publish.
const (
	idA, shortA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaa"
	idB, shortB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "bbbbbbbbbbbb"
)

// publishing is a node that publishes into a directory.
type publishing struct {
	*handlertest.Harness
	*snapshot.Publisher
	home  home.Dir
	id    string
	state api.SyncState
	clock *clocktesting.FakeClock
}

func newPublishing(tb testing.TB, bucket, id string) *publishing {
	tb.Helper()
	p := &publishing{home: home.Dir(tb.TempDir()), id: id, state: api.SyncInSync, clock: clocktesting.NewFakeClock(time.Now())}
	mkdir(tb, p.home.Data())
	address := ""
	if bucket != "" {
		address = "file://" + bucket
	}
	p.restart(address)
	p.set(tb, 2)
	return p
}

// restart is a new process on the same volume.
func (p *publishing) restart(address string) {
	tasks := &snapshot.Tasks{Node: &node.Node{Home: p.home, ChainID: "test-1", SnapshotBucket: address}}
	p.Harness = handlertest.New(tasks.Handlers())
	p.Publisher = &snapshot.Publisher{Tasks: tasks, Look: p.look, Sweep: func() { _ = tasks.SweepUploads() }, Clock: p.clock, Log: slog.New(slog.DiscardHandler)}
}

func (p *publishing) look(context.Context) api.Node {
	doc := api.Node{Home: api.Home{NodeID: p.id}, Sync: api.Sync{State: p.state}}
	found, _ := snapshots.List(p.home.Snapshots())
	for _, s := range found {
		doc.Snapshots = append(doc.Snapshots, api.Snapshot(s))
	}
	return doc
}

func (p *publishing) set(tb testing.TB, keep int) {
	tb.Helper()
	handlertest.Must[any](tb, p.Harness, api.PublishSnapshots, fmt.Sprintf(`{"keep":%d}`, keep))
}

func (p *publishing) finish(tb testing.TB, height uint64) {
	tb.Helper()
	snapshotsIn(tb, p.home.Snapshots(), height)
}

func (p *publishing) document(tb testing.TB) api.Published {
	tb.Helper()
	view, err := p.Published()
	if err != nil {
		tb.Fatal(err)
	}
	return *view
}

// keys are the names in the bucket.
func keys(tb testing.TB, bucket string) []string {
	tb.Helper()
	dir := filepath.Join(bucket, "test-1", "state-sync")
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	names := handlertest.Files(tb, dir)
	maps.DeleteFunc(names, func(name, _ string) bool { return strings.HasSuffix(name, ".attrs") })
	return slices.Sorted(maps.Keys(names))
}

// archives are the names of complete archives of a node.
func archives(short string, heights ...int) []string {
	names := make([]string, 0, 2*len(heights))
	for _, h := range heights {
		name := fmt.Sprintf("%d-%s.tar.zst", h, short)
		names = append(names, name, name+objectstore.ManifestSuffix)
	}
	slices.Sort(names)
	return names
}

func wantKeys(tb testing.TB, bucket string, want []string) {
	tb.Helper()
	if diff := cmp.Diff(want, keys(tb, bucket)); diff != "" {
		tb.Errorf("bucket (-want +got):\n%s", diff)
	}
}

func TestPublisher_EachNewSnapshot_TheNewestStayAndAnotherNodeRestores(t *testing.T) {
	bucket := t.TempDir()
	p := newPublishing(t, bucket, idA)
	p.Round(t.Context())
	wantKeys(t, bucket, nil)
	for _, height := range []uint64{100, 200, 300, 400} {
		p.finish(t, height)
		p.Round(t.Context())
	}
	wantKeys(t, bucket, archives(shortA, 300, 400))
	got := p.document(t)
	if got.Keep != 2 || got.Height != 400 || got.Time == nil || got.Error != "" {
		t.Errorf("document = %+v, want height 400 of which 2 are kept, with its time and no error", got)
	}
	var manifest objectstore.Manifest
	data, err := os.ReadFile(filepath.Join(bucket, "test-1/state-sync", archives(shortA, 400)[1]))
	if err != nil || json.Unmarshal(data, &manifest) != nil || manifest.NodeID != idA || manifest.Height != 400 || manifest.ChainID != "test-1" {
		t.Errorf("manifest = %s, %v, want that of height 400 of test-1 by node %s", data, err, idA)
	}
	to := newFixture(t, bucket)
	down := handlertest.Must[wire.RestoredSnapshot](t, to.Harness, api.SnapshotRestore, `{}`)
	if down.Height != 400 || !down.Verified || len(down.Warnings) != 0 {
		t.Errorf("restore = %+v, want height 400, verified and without warnings", down)
	}
	if diff := cmp.Diff(map[string]string{"400/1/0": "chunk of 400"}, content(t, to.home.Snapshots())); diff != "" {
		t.Errorf("snapshots (-want +got):\n%s", diff)
	}
}

func TestPublisher_SeveralWait_TheNewestIsPublished(t *testing.T) {
	bucket := t.TempDir()
	p := newPublishing(t, bucket, idA)
	for _, height := range []uint64{100, 200, 300} {
		p.finish(t, height)
	}
	p.Round(t.Context())
	p.Round(t.Context())
	wantKeys(t, bucket, archives(shortA, 300))
}

func TestPublisher_OnlyWhileInSyncAndTurnedOn(t *testing.T) {
	bucket := t.TempDir()
	p := newPublishing(t, bucket, idA)
	p.finish(t, 100)
	for _, state := range []api.SyncState{api.SyncCatchingUp, api.SyncBehind, api.SyncStateSyncing, api.SyncNotRunning, api.SyncNotAnswering} {
		p.state = state
		p.Round(t.Context())
		wantKeys(t, bucket, nil)
	}
	p.state = api.SyncInSync
	p.set(t, 0)
	p.Round(t.Context())
	wantKeys(t, bucket, nil)
	if got := p.document(t); got.Keep != 0 {
		t.Errorf("document = %+v, want that none is kept", got)
	}
	p.set(t, 1)
	p.restart("file://" + bucket) // the setting is on the volume
	p.Round(t.Context())
	wantKeys(t, bucket, archives(shortA, 100))
}

func TestPublisher_FewerAreToBeKept_TheBucketFollowsWithoutANewSnapshot(t *testing.T) {
	bucket := t.TempDir()
	p := newPublishing(t, bucket, idA)
	for _, height := range []uint64{100, 200} {
		p.finish(t, height)
		p.Round(t.Context())
	}
	p.set(t, 1)
	p.Round(t.Context())
	wantKeys(t, bucket, archives(shortA, 200))
}

// What tasks and other programs put into the bucket, and what only looks published, stays.
func TestPublisher_Retention_LeavesWhatIsNotOurs(t *testing.T) {
	bucket := t.TempDir()
	p := newPublishing(t, bucket, idA)
	foreign := map[string]string{
		"10.tar.gz": "a", "20.tar.zst": "b", "20.tar.zst.sha256.json": "{}", "latest.txt": "20", "README": "c", "30-notes.txt": "d",
		"40-cccccccccccc.tar.zst":             "by hand",
		"40-cccccccccccc.tar.zst.sha256.json": `{"sha256":"` + strings.Repeat("ab", 32) + `","size":7}`,
	}
	for name, text := range foreign {
		writeFile(t, filepath.Join(bucket, "test-1/state-sync", name), text)
	}
	writeFile(t, filepath.Join(bucket, "other-1/state-sync/1-"+shortA+".tar.zst"), "of another chain")
	for _, height := range []uint64{100, 200, 300, 400} {
		p.finish(t, height)
		p.Round(t.Context())
	}
	wantKeys(t, bucket, slices.Sorted(slices.Values(append(archives(shortA, 300, 400), slices.Collect(maps.Keys(foreign))...))))
	if _, err := os.Stat(filepath.Join(bucket, "other-1/state-sync/1-"+shortA+".tar.zst")); err != nil {
		t.Error(err)
	}
}

func TestPublisher_AnotherNodeHasPublishedTheHeight_NothingIsUploaded(t *testing.T) {
	bucket := t.TempDir()
	a, b := newPublishing(t, bucket, idA), newPublishing(t, bucket, idB)
	for _, height := range []uint64{100, 200, 300} {
		for _, p := range []*publishing{a, b} {
			p.finish(t, height)
			p.Round(t.Context())
		}
	}
	wantKeys(t, bucket, archives(shortA, 200, 300))
	if got := b.document(t); got.Height != 300 || got.Error != "" {
		t.Errorf("document of the second = %+v, want height 300 and no error", got)
	}
	// A node that is left with old ones does not publish what would be deleted at once.
	late := newPublishing(t, bucket, "cccccccccccccccccccccccccccccccccccccccc")
	late.finish(t, 150)
	late.Round(t.Context())
	wantKeys(t, bucket, archives(shortA, 200, 300))
	if got := late.document(t); got.Height != 0 || got.Error != "" {
		t.Errorf("document of the late one = %+v, want no height and no error", got)
	}
}

func TestPublisher_AnotherNodeIsUploadingTheHeight_WaitsUntilItsClaimIsOld(t *testing.T) {
	bucket := t.TempDir()
	p := newPublishing(t, bucket, idA)
	p.finish(t, 100)
	claim := filepath.Join(bucket, "test-1/state-sync/100-"+shortB+".claim")
	writeFile(t, claim, "{}")
	p.Round(t.Context())
	wantKeys(t, bucket, []string{"100-" + shortB + ".claim"})
	if got := p.document(t); got.Error != "" {
		t.Errorf("document = %+v, want no error", got)
	}
	p.clock.Step(snapshot.DefaultUploadTimeout + 2*time.Minute)
	p.Round(t.Context())
	wantKeys(t, bucket, append([]string{}, slices.Sorted(slices.Values(append(archives(shortA, 100), "100-"+shortB+".claim")))...))
	p.clock.Step(24 * time.Hour)
	p.finish(t, 200)
	p.Round(t.Context())
	wantKeys(t, bucket, archives(shortA, 100, 200))
}

func TestPublisher_BucketThatRefuses_IsToldAndTriedAgainLater(t *testing.T) {
	bucket := filepath.Join(t.TempDir(), "bucket")
	p := newPublishing(t, bucket, idA)
	p.finish(t, 100)
	p.Round(t.Context())
	if got := p.document(t); !strings.HasPrefix(got.Error, "opening bucket file://"+bucket+": ") {
		t.Errorf("document = %+v, want an error about bucket %s", got, bucket)
	}
	mkdir(t, bucket)
	p.Round(t.Context())
	wantKeys(t, bucket, nil)
	p.clock.Step(5 * time.Minute)
	p.Round(t.Context())
	wantKeys(t, bucket, archives(shortA, 100))
	if got := p.document(t); got.Error != "" || got.Height != 100 {
		t.Errorf("document = %+v, want height 100 and no error", got)
	}
}

func TestPublisher_WithoutABucket_SaysSo(t *testing.T) {
	p := newPublishing(t, "", idA)
	p.Round(t.Context())
	if got := p.document(t); got.Error != "no snapshot bucket is configured" {
		t.Errorf("document = %+v, want the error that no snapshot bucket is configured", got)
	}
}

// crashBucket is a bucket for a process that is killed at a chosen call.
type crashBucket struct {
	objectstore.Store
	op, suffix string
	// after: the call is made, and the process dies before it hears of it.
	after bool
	// meet is called in the middle of an upload.
	meet func(context.Context)
	dead *bool
}

var errDead = errors.New("the process is dead")

func (b *crashBucket) call(op, key string, do func() error) error {
	chosen := b.op == op && strings.HasSuffix(key, b.suffix)
	switch {
	case *b.dead:
		return errDead // what is deferred does not happen when a process is killed
	case chosen && !b.after:
		*b.dead = true
		runtime.Goexit()
	}
	err := do()
	if chosen {
		*b.dead = true
		runtime.Goexit()
	}
	return err
}

func (b *crashBucket) PutLarge(ctx context.Context, key, contentType string, src io.Reader, size int64) error {
	return b.call("put", key, func() error {
		if b.meet != nil && strings.HasSuffix(key, ".tar.zst") {
			b.meet(ctx)
		}
		return b.Store.PutLarge(ctx, key, contentType, src, size)
	})
}

func (b *crashBucket) Delete(ctx context.Context, key string) error {
	return b.call("delete", key, func() error { return b.Store.Delete(ctx, key) })
}

// through has every bucket opened as a crashBucket, until undo is called.
func through(b *crashBucket) (undo func()) {
	var open objectstore.Opener
	b.dead = new(bool)
	open = objectstore.Register(func(ctx context.Context, address string) (objectstore.Store, error) {
		s, err := open(ctx, address)
		if err != nil {
			return nil, err
		}
		wrapped := *b
		wrapped.Store = s
		return &wrapped, nil
	})
	return func() { objectstore.Register(open) }
}

// killedRound is a round in a process that is killed.
func killedRound(t *testing.T, p *publishing) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.Round(t.Context())
	}()
	<-ended
}

func TestPublisher_KilledAnywhere_TheNextProcessPublishesAndLeavesNoRubbish(t *testing.T) {
	for _, op := range []string{"put", "delete"} {
		for _, suffix := range []string{".claim", ".tar.zst", ".tar.zst" + objectstore.ManifestSuffix} {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s after=%v", op, suffix, after), func(t *testing.T) {
					killedAt(t, &crashBucket{op: op, suffix: suffix, after: after})
				})
			}
		}
	}
}

func killedAt(t *testing.T, at *crashBucket) {
	t.Helper()
	bucket := t.TempDir()
	p := newPublishing(t, bucket, idA)
	for _, height := range []uint64{100, 200} {
		p.finish(t, height)
		p.Round(t.Context())
	}
	p.finish(t, 300)
	undo := through(at)
	killedRound(t, p)
	undo()
	if !*at.dead {
		t.Fatal("the call was never made")
	}
	// What a killed process leaves of its links, and in a bucket that is a directory.
	writeFile(t, filepath.Join(bucket, "test-1/state-sync/300-"+shortA+".tar.zst.18e85d52.tmp"), "half an archive")
	writeFile(t, filepath.Join(p.home.Data(), ".sei-tmp-upload-1", "300", "1", "0"), "chunk")
	p.restart("file://" + bucket)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // before the first round
	p.Publisher.Run(ctx)
	p.Round(t.Context())
	wantKeys(t, bucket, archives(shortA, 200, 300))
	if left, _ := filepath.Glob(filepath.Join(p.home.Data(), ".sei-tmp-*")); len(left) > 0 {
		t.Errorf("%v was left behind, want nothing", left)
	}
	if got := p.document(t); got.Height != 300 || got.Error != "" {
		t.Errorf("document = %+v, want height 300 and no error", got)
	}
}

// The sidecar's tasks are reset, or publishing is turned off, during an upload: the upload ends, and
// nothing is remembered of it.
func TestPublisher_ResetOrTurnedOffMeanwhile_EndsTheUpload(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*publishing)
		keep      int32
	}{
		"reset":      {func(p *publishing) { p.Tasks.Abandon() }, 2},
		"turned off": {func(p *publishing) { p.set(t, 0) }, 0},
	} {
		bucket := t.TempDir()
		p := newPublishing(t, bucket, idA)
		p.finish(t, 100)
		undo := through(&crashBucket{meet: func(ctx context.Context) {
			c.meanwhile(p)
			<-ctx.Done()
		}})
		p.Round(t.Context())
		undo()
		wantKeys(t, bucket, nil)
		if got := p.document(t); got.Keep != c.keep || got.Height != 0 || got.Error != "" {
			t.Errorf("%s: document = %+v, want no height and no error, and %d to keep", name, got, c.keep)
		}
	}
}

// tellingClock tells when somebody has begun to wait for it.
type tellingClock struct {
	*clocktesting.FakeClock
	waits chan struct{}
}

// After implements clock.Clock.
func (c tellingClock) After(d time.Duration) <-chan time.Time {
	due := c.FakeClock.After(d)
	c.waits <- struct{}{}
	return due
}

// The upload of a node that falls behind is suspended until the node has caught up.
func TestPublisher_NodeFallsBehindMeanwhile_TheUploadStandsStill(t *testing.T) {
	bucket := t.TempDir()
	p := newPublishing(t, bucket, idA)
	p.finish(t, 100)
	states := []api.SyncState{api.SyncInSync, api.SyncCatchingUp, api.SyncBehind, api.SyncInSync}
	looks := 0
	p.Look = func(ctx context.Context) api.Node {
		doc := p.look(ctx)
		doc.Sync.State = states[min(looks, len(states)-1)]
		looks++
		return doc
	}
	clock := tellingClock{p.clock, make(chan struct{})}
	p.Clock = clock
	defer through(&crashBucket{meet: func(context.Context) { p.clock.Step(time.Minute) }})()
	ended := make(chan struct{})
	go func() {
		p.Round(t.Context())
		close(ended)
	}()
	for pause := range 2 { // one for each state that is not in sync
		select {
		case <-ended:
			t.Fatalf("the upload went on after %d looks, want it to wait for the node", looks)
		case <-clock.waits:
		}
		if want := pause + 2; looks != want {
			t.Errorf("the upload waits after %d looks, want %d", looks, want)
		}
		if got := keys(t, bucket); slices.Contains(got, archives(shortA, 100)[0]) {
			t.Errorf("the bucket has %v, want no archive yet", got)
		}
		p.clock.Step(time.Minute)
	}
	<-ended
	wantKeys(t, bucket, archives(shortA, 100))
	if looks != len(states) {
		t.Errorf("looked %d times, want %d", looks, len(states))
	}
}

func TestPublisher_SeidPrunesMeanwhile_TheArchiveIsWhole(t *testing.T) {
	bucket := t.TempDir()
	p := newPublishing(t, bucket, idA)
	p.finish(t, 100)
	defer through(&crashBucket{meet: func(context.Context) {
		if err := os.RemoveAll(p.home.Snapshots()); err != nil {
			t.Error(err)
		}
	}})()
	p.Round(t.Context())
	to := newFixture(t, bucket)
	if down := handlertest.Must[wire.RestoredSnapshot](t, to.Harness, api.SnapshotRestore, `{}`); down.Height != 100 || !down.Verified {
		t.Errorf("restore = %+v, want height 100, verified", down)
	}
}

func TestPublisher_Run_RemovesTheLinksOfAKilledUpload(t *testing.T) {
	p := newPublishing(t, t.TempDir(), idA)
	writeFile(t, filepath.Join(p.home.Data(), ".sei-tmp-upload-1", "100", "1", "0"), "chunk")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Publisher.Run(ctx)
	if left, _ := filepath.Glob(filepath.Join(p.home.Data(), ".sei-tmp-*")); len(left) > 0 {
		t.Errorf("%v was left behind, want nothing", left)
	}
}

func TestRestore_PublishedArchiveWithoutManifest_DoesNotCount(t *testing.T) {
	bucket := t.TempDir()
	writeFile(t, filepath.Join(bucket, "test-1/state-sync/300-"+shortA+".tar.zst"), string(archiveOf(t, filesOf(t, 300, "c"))))
	f := newFixture(t, bucket)
	_, err := f.Run(t, api.SnapshotRestore, `{}`)
	handlertest.WantError(t, err, api.CodeNotFound, "no complete snapshot found")
	writeFile(t, filepath.Join(bucket, "test-1/state-sync/200.tar.gz"), string(archiveOf(t, filesOf(t, 200, "c"))))
	if got := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`); got.Height != 200 {
		t.Errorf("restore = %+v, want height 200", got)
	}
}
