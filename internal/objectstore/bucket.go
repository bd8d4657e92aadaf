package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

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

// Object is what is known of an object without reading it.
type Object struct {
	Key     string
	Size    int64
	ModTime time.Time
	// ETag changes with the content. Listings do not have it.
	ETag string
}

// Stat asks for an object as it is now.
func (b *Bucket) Stat(ctx context.Context, key string) (Object, error) {
	attrs, err := b.blob.Attributes(ctx, key)
	if err != nil {
		return Object{}, b.failed(key, "reading", err)
	}
	return Object{Key: key, Size: attrs.Size, ModTime: attrs.ModTime, ETag: attrs.ETag}, nil
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
		if err := visit(Object{Key: obj.Key, Size: obj.Size, ModTime: obj.ModTime}); err != nil {
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
func (b *Bucket) Get(ctx context.Context, key string) (*Reader, error) { return b.GetFrom(ctx, key, 0) }

// GetFrom opens an object for reading from an offset to its end.
func (b *Bucket) GetFrom(ctx context.Context, key string, offset int64) (*Reader, error) {
	r, err := b.blob.NewRangeReader(ctx, key, offset, -1, nil)
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

// Put streams src into an object, which appears only when all of src was
// written: an error of src leaves nothing behind.
func (b *Bucket) Put(ctx context.Context, key, contentType string, src io.Reader) error {
	return b.PutLarge(ctx, key, contentType, src, 0)
}

// PutLarge is Put for a source of about the given size. Buckets take an object in a
// limited number of parts, so a large one needs large parts, and memory for them.
func (b *Bucket) PutLarge(ctx context.Context, key, contentType string, src io.Reader, size int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := &blob.WriterOptions{ContentType: contentType, MaxConcurrency: 2, BufferSize: partSize(size)}
	if options.BufferSize > smallPart {
		options.MaxConcurrency = 1
	}
	w, err := b.blob.NewWriter(ctx, key, options)
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
