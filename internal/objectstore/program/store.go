package program

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http/httputil"

	"github.com/sei-operator/sei-operator/internal/objectstore"
)

// Opener opens buckets with the program at a path.
func Opener(path string) objectstore.Opener {
	return func(_ context.Context, address string) (objectstore.Store, error) {
		return &store{path: path, address: address}, nil
	}
}

// store is a bucket that is opened again for each call.
type store struct{ path, address string }

// Close implements objectstore.Store.
func (s *store) Close() error { return nil }

// Stat implements objectstore.Store.
func (s *store) Stat(ctx context.Context, key string) (object objectstore.Object, err error) {
	p, err := s.start(ctx, call{Op: opStat, Key: key})
	if err != nil {
		return object, err
	}
	unread := json.NewDecoder(p.out).Decode(&object)
	if err := p.wait(); err != nil {
		return object, err
	}
	if unread != nil {
		return object, p.failed(objectstore.KindOther, unread)
	}
	return object, nil
}

// List implements objectstore.Store.
func (s *store) List(ctx context.Context, prefix string, visit func(objectstore.Object) error) error {
	p, err := s.start(ctx, call{Op: opList, Key: prefix})
	if err != nil {
		return err
	}
	for lines := json.NewDecoder(p.out); ; {
		var object objectstore.Object
		err := lines.Decode(&object)
		if errors.Is(err, io.EOF) {
			return p.wait()
		}
		if err != nil {
			err = p.failed(objectstore.KindOther, err)
		} else {
			err = visit(object)
		}
		if err != nil {
			p.abandon()
			return err
		}
	}
}

// GetFrom implements objectstore.Store.
func (s *store) GetFrom(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	p, err := s.start(ctx, call{Op: opGet, Key: key, Offset: offset})
	if err != nil {
		return nil, err
	}
	if line, err := p.out.ReadString('\n'); line != begins {
		if told := p.wait(); told != nil {
			return nil, told
		}
		return nil, p.failed(objectstore.KindOther, errors.Join(errors.New("it gave no content"), err))
	}
	return &content{process: p}, nil
}

// content is an object that is read. It ends well only if its process does.
type content struct {
	process *process
	ended   bool
	err     error
}

// Read implements io.Reader.
func (c *content) Read(buf []byte) (int, error) {
	if c.ended {
		return 0, c.err
	}
	n, err := c.process.out.Read(buf)
	if err == nil {
		return n, nil
	}
	c.ended, c.err = true, c.process.wait()
	switch {
	case c.err == nil && errors.Is(err, io.EOF):
		c.err = io.EOF
	case c.err == nil:
		c.err = c.process.failed(objectstore.KindOther, err)
	}
	return n, c.err
}

// Close implements io.Closer.
func (c *content) Close() error {
	if !c.ended {
		c.ended, c.err = true, io.ErrClosedPipe
		c.process.abandon()
	}
	return nil
}

// Delete implements objectstore.Store.
func (s *store) Delete(ctx context.Context, key string) error {
	p, err := s.start(ctx, call{Op: opDelete, Key: key})
	if err != nil {
		return err
	}
	return p.wait()
}

// PutLarge implements objectstore.Store.
func (s *store) PutLarge(ctx context.Context, key, contentType string, src io.Reader, size int64) error {
	return s.put(ctx, call{Op: opPut, Key: key, ContentType: contentType, Size: size}, src)
}

// PutNew implements objectstore.Store.
func (s *store) PutNew(ctx context.Context, key, contentType string, src io.Reader) error {
	return s.put(ctx, call{Op: opPutNew, Key: key, ContentType: contentType}, src)
}

func (s *store) put(ctx context.Context, c call, src io.Reader) error {
	p, err := s.start(ctx, c)
	if err != nil {
		return err
	}
	from := &source{Reader: src}
	chunks := httputil.NewChunkedWriter(p.in)
	if _, err := io.CopyBuffer(chunks, from, make([]byte, outputBuffer)); err == nil {
		_ = chunks.Close() // without this last chunk nothing is kept; one that has ended says why
	}
	err = p.wait()
	if from.err != nil && ctx.Err() == nil {
		return &objectstore.Error{Kind: objectstore.KindOther, Bucket: objectstore.WithoutQuery(s.address), Key: c.Key, Op: "writing", Err: from.err}
	}
	return err
}

// source remembers whether it was the source that failed.
type source struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (s *source) Read(buf []byte) (int, error) {
	n, err := s.Reader.Read(buf)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
