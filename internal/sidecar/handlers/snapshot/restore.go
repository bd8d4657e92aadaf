package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/archive"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/completion"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

const (
	stagingName = "snapshot"
	maxManifest = 64 << 10
	// spareBytes stay free for the node when an archive's size is not known.
	spareBytes = 64 << 20
)

// restoreInputs is everything a restore depends on.
type restoreInputs struct {
	Bucket, ChainID string
	TargetHeight    int64
}

// restore puts the chosen snapshot into the node's snapshot directory. The same
// inputs again give the same result without a download; other inputs restore
// anew. Homes that the public sidecar restored are left alone.
func (t *Tasks) restore(ctx context.Context, task engine.Task, p wire.SnapshotRestore) (any, error) {
	inputs := restoreInputs{Bucket: t.Node.SnapshotBucket, ChainID: t.Node.ChainID, TargetHeight: p.TargetHeight}
	rec, err := completion.Find(task.Records, api.SnapshotRestore)
	if err != nil {
		return nil, err
	}
	if rec.Matches(inputs) {
		return rec.Result, nil
	}
	if rec == nil {
		if result, done, err := t.restoredBefore(); done || err != nil {
			return result, err
		}
	}
	result, err := t.restoreAnew(ctx, task, p.TargetHeight)
	if err != nil {
		return nil, err
	}
	height := []byte(strconv.FormatInt(result.Height, 10))
	if err := durable.WriteFile(t.Node.Home.Path(heightFile), height, 0o600); err != nil {
		return nil, err
	}
	return result, errors.Join(completion.Save(task.Records, api.SnapshotRestore, inputs, result), t.Node.Mark(doneMark))
}

// restoredBefore recognises the mark of a sidecar that kept no records.
func (t *Tasks) restoredBefore() (any, bool, error) {
	marked, err := t.Node.Marked(doneMark)
	if err != nil || !marked {
		return nil, false, err
	}
	data, err := os.ReadFile(t.Node.Home.Path(heightFile))
	if err != nil {
		return nil, false, fmt.Errorf("reading the restored height: %w", err)
	}
	height, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return nil, false, fmt.Errorf("reading the restored height: %w", err)
	}
	return wire.RestoredSnapshot{Height: height, Warnings: []string{"this home was restored before; run reset-data to restore again"}}, true, nil
}

func (t *Tasks) restoreAnew(ctx context.Context, task engine.Task, target int64) (wire.RestoredSnapshot, error) {
	if err := t.CheckStopped(ctx); err != nil {
		return wire.RestoredSnapshot{}, err
	}
	bucket, err := node.Bucket(ctx, t.Node.SnapshotBucket, "snapshot bucket")
	if err != nil {
		return wire.RestoredSnapshot{}, err
	}
	defer func() { _ = bucket.Close() }()
	height, object, err := t.choose(ctx, bucket, target)
	if err != nil {
		return wire.RestoredSnapshot{}, node.BucketError(err)
	}
	manifest, err := readManifest(ctx, bucket, object.Key)
	if err != nil {
		return wire.RestoredSnapshot{}, node.BucketError(err)
	}
	result := wire.RestoredSnapshot{Height: height, Key: object.Key, Verified: manifest != nil}
	if manifest == nil {
		result.Warnings = append(result.Warnings, "there is no manifest beside the snapshot, so it could not be verified")
	}
	staging, err := t.staging()
	if err != nil {
		return result, err
	}
	defer func() { _ = os.RemoveAll(staging) }()
	if result.Bytes, err = t.unpack(ctx, task, bucket, object, manifest, staging); err != nil {
		return result, explain(err)
	}
	warning, err := t.checkLayout(staging, height)
	if err != nil {
		return result, err
	}
	if warning != "" {
		result.Warnings = append(result.Warnings, warning)
	}
	if err := durable.SyncTree(staging); err != nil {
		return result, err
	}
	return result, durable.Swap(staging, t.Node.Home.Snapshots())
}

// choose finds the newest snapshot at or below the target.
func (t *Tasks) choose(ctx context.Context, bucket *objectstore.Bucket, target int64) (int64, objectstore.Object, error) {
	var best int64
	var chosen objectstore.Object
	seen := false
	err := bucket.List(ctx, t.prefix(), func(o objectstore.Object) error {
		height, ok := heightOf(o.Key)
		seen = seen || ok
		if ok && height > best && (target == 0 || height <= target) {
			best, chosen = height, o
		}
		return nil
	})
	where := bucket.Address(t.prefix())
	switch {
	case err != nil:
		return 0, chosen, err
	case !seen:
		return 0, chosen, api.Retryable(api.CodeNotFound, fmt.Errorf("no snapshots found in %s", where))
	case best == 0:
		return 0, chosen, api.Retryable(api.CodeNotFound, fmt.Errorf("no snapshot found at or below height %d in %s", target, where))
	}
	return best, chosen, nil
}

func readManifest(ctx context.Context, bucket *objectstore.Bucket, key string) (*objectstore.Manifest, error) {
	data, err := bucket.ReadAll(ctx, key+objectstore.ManifestSuffix, maxManifest)
	if objectstore.KindOf(err) == objectstore.KindNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := objectstore.ParseManifest(data)
	if err != nil {
		return nil, api.Terminal(api.CodeIntegrity, fmt.Errorf("%s: %w", key, err))
	}
	return &m, nil
}

// staging is a fresh directory on the file system of the data.
func (t *Tasks) staging() (string, error) {
	if err := durable.Sweep(t.Node.Home.Data(), stagingName); err != nil {
		return "", err
	}
	return durable.TempDir(t.Node.Home.Data(), stagingName)
}

// unpack streams the archive into staging and compares what came with what was
// promised.
func (t *Tasks) unpack(
	ctx context.Context, task engine.Task, bucket *objectstore.Bucket, object objectstore.Object, manifest *objectstore.Manifest, staging string,
) (int64, error) {
	limits, err := limitsFor(manifest, staging)
	if err != nil {
		return 0, err
	}
	src, err := bucket.Get(ctx, object.Key)
	if err != nil {
		return 0, node.BucketError(err)
	}
	defer func() { _ = src.Close() }()
	counted := &countedReader{src: src, hash: sha256.New(), report: func(done int64) {
		task.Progress(api.Progress{Done: done, Total: object.Size, Unit: "bytes", Message: "restoring " + object.Key})
	}}
	if _, err := archive.Unpack(ctx, counted, staging, limits); err != nil {
		return counted.n, err
	}
	if _, err := io.Copy(io.Discard, counted); err != nil {
		return counted.n, err
	}
	return counted.n, counted.verify(object.Key, manifest)
}

// limitsFor bounds an archive by its manifest, or else by the space there is.
func limitsFor(manifest *objectstore.Manifest, staging string) (archive.Limits, error) {
	free, err := durable.Free(staging)
	if err != nil {
		return archive.Limits{}, err
	}
	if manifest == nil {
		return archive.Limits{Bytes: max(free-spareBytes, 1)}, nil
	}
	if manifest.UnpackedSize > free {
		return archive.Limits{}, api.Terminal(api.CodePrecondition,
			fmt.Errorf("the snapshot needs %d bytes, the volume has %d left", manifest.UnpackedSize, free)).WithHint("use a larger volume")
	}
	return archive.Limits{Bytes: max(manifest.UnpackedSize, 1), Files: max(manifest.Files, 1)}, nil
}

// checkLayout makes sure that the archive is what its name says, and that the
// index promises nothing the archive does not have.
func (t *Tasks) checkLayout(staging string, height int64) (warning string, err error) {
	dir := strconv.FormatInt(height, 10)
	if info, err := os.Stat(filepath.Join(staging, dir)); err != nil || !info.IsDir() {
		return "", api.Terminal(api.CodeIntegrity, fmt.Errorf("the archive has no directory %s", dir))
	}
	index := filepath.Join(staging, filepath.Base(t.Node.Home.SnapshotMetadata()))
	there, err := durable.Exists(index)
	if err != nil {
		return "", err
	}
	if !there {
		return "the archive has no metadata.db, so seid will not see the snapshot", nil
	}
	if err := keepOnly(index, func(h uint64) bool { return h == uint64(height) }); err != nil {
		return fmt.Sprintf("metadata.db was taken as it is: %v", err), nil
	}
	return "", removeLogs(index)
}

func explain(err error) error {
	switch {
	case errors.Is(err, archive.ErrUnsafe), errors.Is(err, archive.ErrCorrupt):
		return api.Terminal(api.CodeIntegrity, err).WithHint("the archive is damaged or not a snapshot; upload it again")
	case errors.Is(err, archive.ErrTooLarge):
		return api.Terminal(api.CodeIntegrity, err).WithHint("the archive unpacks to more than its manifest or the volume allows")
	case errors.Is(err, syscall.ENOSPC):
		return api.Terminal(api.CodePrecondition, err).WithHint("the volume is full; use a larger one")
	default:
		return node.BucketError(err)
	}
}

// countedReader hashes and counts what passes through.
type countedReader struct {
	src    io.Reader
	hash   hash.Hash
	n      int64
	last   int64
	report func(int64)
}

const reportEvery = 8 << 20

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	r.hash.Write(p[:n])
	r.n += int64(n)
	if r.report != nil && r.n-r.last >= reportEvery {
		r.last = r.n
		r.report(r.n)
	}
	return n, err
}

func (r *countedReader) verify(key string, manifest *objectstore.Manifest) error {
	if manifest == nil {
		return nil
	}
	sum := hex.EncodeToString(r.hash.Sum(nil))
	if sum != manifest.SHA256 || r.n != manifest.Size {
		return api.Terminal(api.CodeIntegrity, fmt.Errorf("%s has %d bytes and SHA-256 %s, its manifest says %d and %s",
			key, r.n, sum, manifest.Size, manifest.SHA256)).WithHint("the archive was changed or cut after it was uploaded")
	}
	return nil
}
