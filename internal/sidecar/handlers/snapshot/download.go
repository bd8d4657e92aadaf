package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

const (
	archiveFile = "archive"
	partFile    = "part.json"
	// checkpointEvery is how much of a download a kill may lose.
	checkpointEvery = 64 << 20
	copyBuffer      = 256 << 10
	// maxTries is how often a download is tried without getting a single byte.
	maxTries = 5
)

// part is how far the download of an object is. What is in the file beyond Offset may
// not have reached the disk and is fetched again.
type part struct {
	Address string    `json:"address"`
	Size    int64     `json:"size"`
	ETag    string    `json:"etag"`
	ModTime time.Time `json:"modTime"`
	Offset  int64     `json:"offset"`
	// Hash is the state of the digest at Offset.
	Hash []byte `json:"hash"`
}

func (p part) of(address string, o objectstore.Object) bool {
	return p.Address == address && p.Size == o.Size && p.ETag == o.ETag && p.ModTime.Equal(o.ModTime)
}

// download fetches objects into a directory and survives kills and lost connections.
type download struct {
	dir    string
	bucket *objectstore.Bucket
	task   engine.Task
	// pause before the second try; it doubles.
	pause time.Duration

	part part
	file *os.File
	hash hash.Hash
}

// fetch brings the whole object to the disk and gives its digest. An object that changed
// since the download began is fetched from its beginning.
func (d *download) fetch(ctx context.Context, key string) (sum string, err error) {
	for tries := 1; ; tries++ {
		before := d.part.Offset
		err := d.attempt(ctx, key)
		if err == nil {
			return hex.EncodeToString(d.hash.Sum(nil)), d.file.Close()
		}
		if ctx.Err() != nil || !worthAnotherTry(err) {
			return "", err
		}
		if d.part.Offset > before {
			tries = 1
		}
		if tries == maxTries {
			return "", err
		}
		d.task.Progress(api.Progress{Done: d.part.Offset, Total: d.part.Size, Unit: "bytes", Message: fmt.Sprintf("trying again after: %v", err)})
		if err := wait(ctx, d.pause<<(tries-1)); err != nil {
			return "", err
		}
	}
}

// errCut is a stream that ended before the object did.
var errCut = errors.New("the connection closed before the object was complete")

func worthAnotherTry(err error) bool {
	e, ok := errors.AsType[*objectstore.Error](err)
	return errors.Is(err, errCut) || (ok && e.Retryable())
}

func (d *download) attempt(ctx context.Context, key string) error {
	object, err := d.bucket.Stat(ctx, key)
	if err != nil {
		return err
	}
	if err := d.open(object); err != nil {
		return err
	}
	err = d.copy(ctx, object)
	// Whatever went wrong, what is there is worth keeping.
	err = errors.Join(err, d.checkpoint())
	if err == nil {
		return nil
	}
	return errors.Join(err, d.file.Close())
}

// open takes up the part of an earlier run, or starts over.
func (d *download) open(object objectstore.Object) error {
	p, err := readPart(d.dir)
	if err != nil {
		return err
	}
	address := d.bucket.Address(object.Key)
	d.hash = sha256.New()
	if !p.of(address, object) || d.hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(p.Hash) != nil {
		if err := durable.Remove(d.dir); err != nil {
			return err
		}
		d.hash = sha256.New()
		p = part{Address: address, Size: object.Size, ETag: object.ETag, ModTime: object.ModTime}
	}
	if err := os.MkdirAll(d.dir, 0o750); err != nil {
		return fmt.Errorf("making room for the download: %w", err)
	}
	d.part = p
	if d.file, err = os.OpenFile(d.path(), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return fmt.Errorf("opening the download: %w", err)
	}
	if err := d.file.Truncate(p.Offset); err != nil {
		return errors.Join(fmt.Errorf("opening the download: %w", err), d.file.Close())
	}
	return nil
}

func (d *download) path() string { return filepath.Join(d.dir, archiveFile) }

// copy appends the rest of the object.
func (d *download) copy(ctx context.Context, object objectstore.Object) error {
	if d.part.Offset == object.Size {
		return nil
	}
	src, err := d.bucket.GetFrom(ctx, object.Key, d.part.Offset)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	progress := newMeter("downloading "+object.Key, d.part.Offset, object.Size, d.task.Progress)
	buf := make([]byte, copyBuffer)
	saved := d.part.Offset
	for {
		n, readErr := src.Read(buf)
		if _, err := d.file.WriteAt(buf[:n], d.part.Offset); err != nil {
			return fmt.Errorf("writing the download: %w", err)
		}
		d.hash.Write(buf[:n])
		d.part.Offset += int64(n)
		progress.at(d.part.Offset)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.part.Offset > object.Size:
			return api.Terminal(api.CodeIntegrity, fmt.Errorf("%s is longer than its %d bytes", object.Key, object.Size))
		case errors.Is(readErr, io.EOF) && d.part.Offset < object.Size:
			return errCut
		case errors.Is(readErr, io.EOF):
			return nil
		case readErr != nil:
			return readErr
		case d.part.Offset-saved >= checkpointEvery:
			if err := d.checkpoint(); err != nil {
				return err
			}
			saved = d.part.Offset
		}
	}
}

// checkpoint makes what was fetched so far survive a kill.
func (d *download) checkpoint() error {
	state, err := d.hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return fmt.Errorf("recording the download: %w", err)
	}
	d.part.Hash = state
	data, err := json.Marshal(d.part)
	if err != nil {
		return fmt.Errorf("recording the download: %w", err)
	}
	if err := d.file.Sync(); err != nil {
		return fmt.Errorf("writing the download: %w", err)
	}
	return durable.WriteFile(filepath.Join(d.dir, partFile), data, 0o600)
}

func readPart(dir string) (part, error) {
	var p part
	data, err := os.ReadFile(filepath.Join(dir, partFile)) //nolint:gosec // in the node's home
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("reading how far the download is: %w", err)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return part{}, nil //nolint:nilerr // a record that cannot be read is none: the download starts over
	}
	return p, nil
}

// isFull reports whether an error means that the volume has no room.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// wait pauses, or gives the reason why the context ended.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
