package drivers

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gocloud.dev/blob"

	"github.com/sei-operator/sei-operator/internal/objectstore"
)

// store is a bucket as its driver gives it.
type store struct {
	address string
	blob    *blob.Bucket
}

func open(ctx context.Context, address string) (objectstore.Store, error) {
	name := objectstore.WithoutQuery(address)
	full, err := driverURL(address)
	if err != nil {
		return nil, &objectstore.Error{Kind: objectstore.KindInvalid, Bucket: name, Err: err}
	}
	b, err := blob.OpenBucket(ctx, full)
	if err != nil {
		return nil, classify(name, "", "opening bucket", err)
	}
	return &store{address: name, blob: b}, nil
}

func (s *store) failed(key, op string, err error) error { return classify(s.address, key, op, err) }

// Close implements objectstore.Store.
func (s *store) Close() error {
	if err := s.blob.Close(); err != nil {
		return fmt.Errorf("closing bucket %s: %w", s.address, err)
	}
	return nil
}

// Stat implements objectstore.Store.
func (s *store) Stat(ctx context.Context, key string) (objectstore.Object, error) {
	attrs, err := s.blob.Attributes(ctx, key)
	if err != nil {
		return objectstore.Object{}, s.failed(key, "reading", err)
	}
	return objectstore.Object{Key: key, Size: attrs.Size, ModTime: attrs.ModTime, ETag: attrs.ETag}, nil
}

// List implements objectstore.Store.
func (s *store) List(ctx context.Context, prefix string, visit func(objectstore.Object) error) error {
	iter := s.blob.List(&blob.ListOptions{Prefix: prefix})
	for {
		obj, err := iter.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return s.failed(prefix, "listing", err)
		}
		if obj.IsDir {
			continue
		}
		if err := visit(objectstore.Object{Key: obj.Key, Size: obj.Size, ModTime: obj.ModTime}); err != nil {
			return err
		}
	}
}

// reader streams an object.
type reader struct {
	*blob.Reader
	store *store
	key   string
}

// Read implements io.Reader with classified errors.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, r.store.failed(r.key, "reading", err)
	}
	return n, err
}

// GetFrom implements objectstore.Store.
func (s *store) GetFrom(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	r, err := s.blob.NewRangeReader(ctx, key, offset, -1, nil)
	if err != nil {
		return nil, s.failed(key, "reading", err)
	}
	return &reader{Reader: r, store: s, key: key}, nil
}

// Delete implements objectstore.Store.
func (s *store) Delete(ctx context.Context, key string) error {
	err := s.blob.Delete(ctx, key)
	if err == nil {
		return nil
	}
	err = s.failed(key, "deleting", err)
	if objectstore.KindOf(err) == objectstore.KindNotFound {
		return nil
	}
	return err
}

// The sizes of parts. S3 takes 10,000 of them; a tenth is left for a source that turns
// out larger than it was said to be.
const (
	smallPart = 8 << 20
	maxParts  = 9_000
	mebibyte  = 1 << 20
)

// partSize is how large parts have to be for an object of about size bytes.
func partSize(size int64) int {
	parts := (size/maxParts + mebibyte) / mebibyte * mebibyte
	return int(max(parts, smallPart))
}

// PutLarge implements objectstore.Store.
func (s *store) PutLarge(ctx context.Context, key, contentType string, src io.Reader, size int64) error {
	options := &blob.WriterOptions{ContentType: contentType, MaxConcurrency: 2, BufferSize: partSize(size)}
	if options.BufferSize > smallPart {
		options.MaxConcurrency = 1
	}
	return s.write(ctx, key, src, options)
}

// PutNew implements objectstore.Store.
func (s *store) PutNew(ctx context.Context, key, contentType string, src io.Reader) error {
	return s.write(ctx, key, src, &blob.WriterOptions{ContentType: contentType, IfNotExist: true})
}

func (s *store) write(ctx context.Context, key string, src io.Reader, options *blob.WriterOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := s.blob.NewWriter(ctx, key, options)
	if err != nil {
		return s.failed(key, "writing", err)
	}
	if _, err := io.Copy(w, src); err != nil {
		cancel() // a cancelled writer is dropped on Close instead of committed
		_ = w.Close()
		return s.failed(key, "writing", err)
	}
	if err := w.Close(); err != nil {
		return s.failed(key, "writing", err)
	}
	return nil
}
