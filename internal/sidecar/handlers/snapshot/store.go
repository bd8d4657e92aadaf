package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/archive"
)

// store puts archive, manifest and pointer into the bucket. A manifest that is
// there already says that the archive is complete.
func (t *Tasks) store(ctx context.Context, task engine.Task, bucket *objectstore.Bucket, held *held) (objectstore.Manifest, error) {
	key := t.key(held.height)
	manifest, err := readManifest(ctx, bucket, key)
	if err != nil {
		return objectstore.Manifest{}, err
	}
	if manifest == nil {
		fresh, err := t.sendArchive(ctx, bucket, held, key, archive.Gzip, task.Progress)
		if err != nil {
			return fresh, err
		}
		if err := sendManifest(ctx, bucket, key, fresh); err != nil {
			return fresh, err
		}
		manifest = &fresh
	}
	return *manifest, t.pointTo(ctx, bucket, held.height)
}

// sendArchive packs and uploads at the same time; nothing of the archive is
// ever on the disk or in memory as a whole.
func (t *Tasks) sendArchive(
	ctx context.Context, bucket *objectstore.Bucket, held *held, key string, how archive.Compression, report func(api.Progress),
) (objectstore.Manifest, error) {
	name := strconv.FormatInt(held.height, 10)
	reader, writer := io.Pipe()
	packed := make(chan archive.Stats, 1)
	go func() {
		stats, err := archive.Pack(ctx, writer, how,
			archive.Source{Path: filepath.Join(held.dir, name), Name: name},
			archive.Source{Path: filepath.Join(held.dir, indexName), Name: indexName})
		writer.CloseWithError(err)
		packed <- stats
	}()
	progress := newMeter("uploading "+key, 0, held.bytes, report)
	counted := &hashed{src: reader, hash: sha256.New(), at: progress.at}
	err := bucket.PutLarge(ctx, key, how.ContentType(), counted, held.bytes)
	_ = reader.CloseWithError(errors.New("the upload ended"))
	stats := <-packed
	if err != nil {
		return objectstore.Manifest{}, err
	}
	return objectstore.Manifest{
		SHA256: hex.EncodeToString(counted.hash.Sum(nil)), Size: counted.n, UnpackedSize: stats.Bytes, Files: stats.Files,
		Height: held.height, ChainID: t.Node.ChainID, BlockTime: t.blockTime(ctx, held.height), CreatedAt: time.Now().UTC(),
	}, nil
}

// sendManifest says that the archive at a key is complete.
func sendManifest(ctx context.Context, bucket *objectstore.Bucket, key string, manifest objectstore.Manifest) error {
	data, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("encoding the manifest: %w", err)
	}
	return bucket.Put(ctx, key+objectstore.ManifestSuffix, "application/json", bytes.NewReader(data))
}

// blockTime is zero when the node cannot tell: it may be stopped, or have deleted the block.
func (t *Tasks) blockTime(ctx context.Context, height int64) time.Time {
	if t.BlockTime == nil {
		return time.Time{}
	}
	made, err := t.BlockTime(ctx, height)
	if err != nil {
		return time.Time{}
	}
	return made.UTC()
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

// hashed hashes and counts what passes through.
type hashed struct {
	src  io.Reader
	hash hash.Hash
	n    int64
	at   func(done int64)
}

func (r *hashed) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	r.hash.Write(p[:n])
	r.n += int64(n)
	r.at(r.n)
	return n, err
}
