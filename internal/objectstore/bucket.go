package objectstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Store is what a bucket can do. Its errors are of type Error, but for those of a context
// that has ended.
type Store interface {
	// Stat asks for an object as it is now.
	Stat(ctx context.Context, key string) (Object, error)
	// List calls visit for every object under prefix, in key order.
	List(ctx context.Context, prefix string, visit func(Object) error) error
	// GetFrom opens an object for reading from an offset to its end.
	GetFrom(ctx context.Context, key string, offset int64) (io.ReadCloser, error)
	// PutLarge streams src, of about the given size, into an object, which appears only when
	// all of src was written: an error of src leaves nothing behind. Buckets take an object
	// in a limited number of parts, so a large one needs large parts, and memory for them.
	PutLarge(ctx context.Context, key, contentType string, src io.Reader, size int64) error
	// PutNew is PutLarge for a small object that must not exist yet: the store itself refuses to
	// replace one, with an error of KindExists. One that cannot says KindUnsupported.
	PutNew(ctx context.Context, key, contentType string, src io.Reader) error
	// Delete removes an object; one that is not there is fine.
	Delete(ctx context.Context, key string) error
	// Close releases the bucket.
	Close() error
}

// Object is what is known of an object without reading it.
type Object struct {
	Key     string
	Size    int64
	ModTime time.Time
	// ETag changes with the content. Listings do not have it.
	ETag string
}

// Opener opens the bucket at an address.
type Opener func(ctx context.Context, address string) (Store, error)

var opener Opener = func(context.Context, string) (Store, error) {
	return nil, errors.New("this program has no way to open buckets")
}

// Register says how this program opens buckets, and returns how it did before. It is called
// before the first is opened.
func Register(open Opener) (before Opener) {
	before, opener = opener, open
	return before
}

// Bucket is an open bucket.
type Bucket struct {
	Store
	address string
}

// Open opens the bucket at an address such as s3://name?region=eu-central-1 or
// file:///srv/bucket, in the way that was registered.
func Open(ctx context.Context, address string) (*Bucket, error) {
	store, err := opener(ctx, address)
	if err != nil {
		return nil, err
	}
	return &Bucket{Store: store, address: WithoutQuery(address)}, nil
}

// Address names an object, or the bucket itself, for messages.
func (b *Bucket) Address(key string) string { return b.address + "/" + key }

// Get opens an object for reading.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	return b.GetFrom(ctx, key, 0)
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
		return nil, &Error{Kind: KindTooLarge, Bucket: b.address, Key: key, Op: "reading", Err: fmt.Errorf("more than %d bytes", limit)}
	}
	return data, nil
}

// PutAbsent writes an object if there is none, on the store's own condition. A store that knows no
// such condition takes the object as Put does.
func (b *Bucket) PutAbsent(ctx context.Context, key, contentType string, data []byte) error {
	err := b.PutNew(ctx, key, contentType, bytes.NewReader(data))
	if KindOf(err) != KindUnsupported {
		return err
	}
	return b.Put(ctx, key, contentType, bytes.NewReader(data))
}

// Put is PutLarge for a source of a few hundred megabytes at most.
func (b *Bucket) Put(ctx context.Context, key, contentType string, src io.Reader) error {
	return b.PutLarge(ctx, key, contentType, src, 0)
}
