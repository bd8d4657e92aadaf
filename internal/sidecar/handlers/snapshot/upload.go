package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/archive"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
)

// uploadState is what is remembered of the last upload. The format is the public
// sidecar's.
type uploadState struct {
	LastUploadedHeight int64 `json:"lastUploadedHeight"`
	LastUploadedAt     int64 `json:"lastUploadedAt"`
}

// uploadOnce uploads the newest snapshot that is surely finished: the one before
// the highest. The archive comes first, then its manifest, then the pointer to
// it, then our own note, so a killed upload is simply done again.
func (t *Tasks) uploadOnce(ctx context.Context, task engine.Task, _ wire.SnapshotUploadOnce) (any, error) {
	timeout := t.UploadTimeout
	if timeout <= 0 {
		timeout = DefaultUploadTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result, err := t.upload(ctx, task)
	if errors.Is(err, context.DeadlineExceeded) {
		err = api.Retryable(api.CodeUnavailable, fmt.Errorf("uploading took longer than %s: %w", timeout, err))
	}
	if err != nil {
		t.Metrics.uploaded(t.Node.ChainID, wire.OutcomeError, 0)
		return wire.UploadedSnapshot{Outcome: wire.OutcomeError}, err
	}
	t.Metrics.uploaded(t.Node.ChainID, result.Outcome, result.Height)
	return result, nil
}

func (t *Tasks) upload(ctx context.Context, task engine.Task) (wire.UploadedSnapshot, error) {
	var done wire.UploadedSnapshot
	noted, err := notes.Find(task, uploadedNote, &done)
	if err != nil {
		return done, err
	}
	if noted {
		return done, t.remember(done.Height)
	}
	heights, err := t.Node.Home.SnapshotHeights()
	if err != nil {
		return wire.UploadedSnapshot{}, err
	}
	if len(heights) < 2 {
		return wire.UploadedSnapshot{Outcome: wire.OutcomeNoop, NoopReason: wire.NoopFewSnapshots}, nil
	}
	height := heights[len(heights)-2]
	state, err := t.uploadState()
	if err != nil {
		return wire.UploadedSnapshot{}, err
	}
	if height <= state.LastUploadedHeight {
		return wire.UploadedSnapshot{Outcome: wire.OutcomeNoop, NoopReason: wire.NoopAlreadyUploaded, Height: state.LastUploadedHeight}, nil
	}
	bucket, err := node.Bucket(ctx, t.Node.SnapshotBucket, "snapshot bucket")
	if err != nil {
		return wire.UploadedSnapshot{}, err
	}
	defer func() { _ = bucket.Close() }()
	manifest, err := t.publish(ctx, task, bucket, height)
	if err != nil {
		return wire.UploadedSnapshot{}, node.BucketError(err)
	}
	done = wire.UploadedSnapshot{Outcome: wire.OutcomeUploaded, Height: height, Key: t.key(height), SHA256: manifest.SHA256, Bytes: manifest.Size}
	if err := notes.Keep(task, uploadedNote, done); err != nil {
		return wire.UploadedSnapshot{}, err
	}
	return done, t.remember(height)
}

const uploadedNote = "uploaded snapshot"

// remember notes for all later tasks which snapshot is in the bucket.
func (t *Tasks) remember(height int64) error {
	data, err := json.Marshal(uploadState{LastUploadedHeight: height, LastUploadedAt: time.Now().Unix()})
	if err != nil {
		return fmt.Errorf("encoding the upload state: %w", err)
	}
	return durable.WriteFile(t.Node.Home.Path(stateFile), data, 0o600)
}

// publish puts archive, manifest and pointer into the bucket. A manifest that is
// there already says that the archive is complete.
func (t *Tasks) publish(ctx context.Context, task engine.Task, bucket *objectstore.Bucket, height int64) (objectstore.Manifest, error) {
	key := t.key(height)
	manifest, err := readManifest(ctx, bucket, key)
	if err != nil {
		return objectstore.Manifest{}, err
	}
	if manifest == nil {
		fresh, err := t.sendArchive(ctx, task, bucket, height)
		if err != nil {
			return fresh, err
		}
		data, err := json.Marshal(fresh)
		if err != nil {
			return fresh, fmt.Errorf("encoding the manifest: %w", err)
		}
		if err := bucket.Put(ctx, key+objectstore.ManifestSuffix, "application/json", bytes.NewReader(data)); err != nil {
			return fresh, err
		}
		manifest = &fresh
	}
	return *manifest, t.pointTo(ctx, bucket, height)
}

// sendArchive packs and uploads at the same time; nothing of the archive is
// ever on the disk or in memory as a whole.
func (t *Tasks) sendArchive(ctx context.Context, task engine.Task, bucket *objectstore.Bucket, height int64) (objectstore.Manifest, error) {
	scratch, cleanup, err := t.Node.Scratch("upload")
	if err != nil {
		return objectstore.Manifest{}, err
	}
	defer cleanup()
	index := filepath.Base(t.Node.Home.SnapshotMetadata())
	if err := copyIndex(t.Node.Home.SnapshotMetadata(), filepath.Join(scratch, index), height); err != nil {
		return objectstore.Manifest{}, err
	}
	name := strconv.FormatInt(height, 10)
	reader, writer := io.Pipe()
	packed := make(chan archive.Stats, 1)
	go func() {
		stats, err := archive.Pack(ctx, writer,
			archive.Source{Path: filepath.Join(t.Node.Home.Snapshots(), name), Name: name},
			archive.Source{Path: filepath.Join(scratch, index), Name: index})
		writer.CloseWithError(err)
		packed <- stats
	}()
	counted := &countedReader{src: reader, hash: sha256.New(), report: func(done int64) {
		task.Progress(api.Progress{Done: done, Unit: "bytes", Message: "uploading " + t.key(height)})
	}}
	err = bucket.Put(ctx, t.key(height), "application/gzip", counted)
	_ = reader.CloseWithError(errors.New("the upload ended"))
	stats := <-packed
	if err != nil {
		return objectstore.Manifest{}, err
	}
	return objectstore.Manifest{
		SHA256: hex.EncodeToString(counted.hash.Sum(nil)), Size: counted.n, UnpackedSize: stats.Bytes, Files: stats.Files,
		Height: height, ChainID: t.Node.ChainID, CreatedAt: time.Now().UTC(),
	}, nil
}

// pointTo moves latest.txt forward, never back.
func (t *Tasks) pointTo(ctx context.Context, bucket *objectstore.Bucket, height int64) error {
	key := t.prefix() + "latest.txt"
	data, err := bucket.ReadAll(ctx, key, 64)
	if err == nil {
		if latest, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && latest >= height {
			return nil
		}
	} else if objectstore.KindOf(err) != objectstore.KindNotFound {
		return err
	}
	return bucket.Put(ctx, key, "text/plain", strings.NewReader(strconv.FormatInt(height, 10)))
}

func (t *Tasks) uploadState() (uploadState, error) {
	var state uploadState
	data, err := os.ReadFile(t.Node.Home.Path(stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err != nil {
		return state, fmt.Errorf("reading the upload state: %w", err)
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return state, fmt.Errorf("reading the upload state: %w", err)
	}
	return state, nil
}
