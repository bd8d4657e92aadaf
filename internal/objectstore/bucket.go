package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gocloud.dev/blob"
)

// Bucket is an open bucket.
type Bucket struct {
	address string
	blob    *blob.Bucket
}

// Open opens the bucket at an address such as s3://name?region=eu-central-1 or
// file:///srv/bucket. The scheme's driver has to be linked in.
func Open(ctx context.Context, address string) (*Bucket, error) {
	full, err := driverURL(address)
	if err != nil {
		return nil, &Error{Kind: KindInvalid, Bucket: withoutQuery(address), Err: err}
	}
	b, err := blob.OpenBucket(ctx, full)
	if err != nil {
		return nil, classify(withoutQuery(address), "", "opening bucket", err)
	}
	return Wrap(address, b), nil
}

// Wrap makes a Bucket of one that is already open.
func Wrap(address string, b *blob.Bucket) *Bucket {
	return &Bucket{address: withoutQuery(address), blob: b}
}

// Address names an object, or the bucket itself, for messages.
func (b *Bucket) Address(key string) string { return b.address + "/" + key }

// Close releases the bucket.
func (b *Bucket) Close() error {
	if err := b.blob.Close(); err != nil {
		return fmt.Errorf("closing bucket %s: %w", b.address, err)
	}
	return nil
}

// Object is one entry of a listing.
type Object struct {
	Key  string
	Size int64
}

// List calls visit for every object under prefix, in key order.
func (b *Bucket) List(ctx context.Context, prefix string, visit func(Object) error) error {
	iter := b.blob.List(&blob.ListOptions{Prefix: prefix})
	for {
		obj, err := iter.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return b.failed(prefix, "listing", err)
		}
		if obj.IsDir {
			continue
		}
		if err := visit(Object{Key: obj.Key, Size: obj.Size}); err != nil {
			return err
		}
	}
}

// Reader streams an object.
type Reader struct {
	*blob.Reader
	bucket *Bucket
	key    string
}

// Read implements io.Reader with classified errors.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, r.bucket.failed(r.key, "reading", err)
	}
	return n, err
}

// Get opens an object for reading.
func (b *Bucket) Get(ctx context.Context, key string) (*Reader, error) {
	r, err := b.blob.NewReader(ctx, key, nil)
	if err != nil {
		return nil, b.failed(key, "reading", err)
	}
	return &Reader{Reader: r, bucket: b, key: key}, nil
}

// ReadAll reads a small object; one larger than limit is an error.
func (b *Bucket) ReadAll(ctx context.Context, key string, limit int64) ([]byte, error) {
	r, err := b.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, b.tooLarge(key, limit)
	}
	return data, nil
}

// Put streams src into an object, which appears only when all of src was
// written: an error of src leaves nothing behind.
func (b *Bucket) Put(ctx context.Context, key, contentType string, src io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.blob.NewWriter(ctx, key, &blob.WriterOptions{ContentType: contentType, MaxConcurrency: 2})
	if err != nil {
		return b.failed(key, "writing", err)
	}
	if _, err := io.Copy(w, src); err != nil {
		cancel() // a cancelled writer is dropped on Close instead of committed
		_ = w.Close()
		return b.failed(key, "writing", err)
	}
	if err := w.Close(); err != nil {
		return b.failed(key, "writing", err)
	}
	return nil
}
