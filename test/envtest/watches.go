package envtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Watches makes a client's view of the cluster late. It stands in the way of the watches that fill
// its caches, so everything else is the real thing: reflectors that resume, list again and never go
// back to an older version. Resources are named as in a URL, for example "pods".
type Watches struct {
	mu       sync.Mutex
	resolver request.RequestInfoResolver
	// held has, by resource, what is closed when its events may go on.
	held    map[string]chan struct{}
	expired map[string]bool
	streams map[*stream]bool
}

// NewWatches makes watches that hold nothing back; hook them in with rest.Config.Wrap.
func NewWatches() *Watches {
	return &Watches{
		resolver: &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
		held:     map[string]chan struct{}{}, expired: map[string]bool{}, streams: map[*stream]bool{},
	}
}

// Wrap puts the watches before the next transport.
func (w *Watches) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		info, err := w.resolver.NewRequestInfo(req)
		if err != nil {
			return nil, fmt.Errorf("describing %s %s: %w", req.Method, req.URL.Path, err)
		}
		if info.Verb != "watch" {
			return next.RoundTrip(req)
		}
		// A watch that begins with a list is how a reflector starts over.
		if req.URL.Query().Get("sendInitialEvents") == "" && w.takeExpired(info.Resource) {
			return gone(req)
		}
		resp, err := next.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			return resp, err
		}
		s := &stream{ReadCloser: resp.Body, watches: w, resource: info.Resource, closed: make(chan struct{})}
		w.mu.Lock()
		w.streams[s] = true
		w.mu.Unlock()
		resp.Body = s
		return resp, nil
	})
}

// Hold keeps back what happens to a resource from now on.
func (w *Watches) Hold(resource string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[resource] == nil {
		w.held[resource] = make(chan struct{})
	}
}

// Held reports whether a resource is held back.
func (w *Watches) Held(resource string) bool { return w.gate(resource) != nil }

// Release delivers what was held back, event by event.
func (w *Watches) Release(resource string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if gate := w.held[resource]; gate != nil {
		close(gate)
		delete(w.held, resource)
	}
}

// Cut ends the watches of a resource. The client resumes them from the last version it has seen.
func (w *Watches) Cut(resource string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.streams {
		if s.resource == resource {
			s.cut()
		}
	}
}

// Expire ends the watches of a resource and forgets what was held back: the client finds its last
// version too old, lists anew, and never hears of what happened in between.
func (w *Watches) Expire(resource string) {
	w.mu.Lock()
	w.expired[resource] = true
	w.mu.Unlock()
	w.Cut(resource)
	w.Release(resource)
}

func (w *Watches) gate(resource string) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held[resource]
}

func (w *Watches) takeExpired(resource string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	expired := w.expired[resource]
	delete(w.expired, resource)
	return expired
}

func (w *Watches) forget(s *stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.streams, s)
}

// gone is how an API server answers a watch from a version that it no longer has.
func gone(req *http.Request) (*http.Response, error) {
	status := apierrors.NewResourceExpired("too old resource version").Status()
	status.Kind, status.APIVersion = "Status", "v1"
	body, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("encoding a status: %w", err)
	}
	return &http.Response{
		StatusCode: http.StatusGone, Status: "410 Gone", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// stream is the answer to a watch.
type stream struct {
	io.ReadCloser

	watches  *Watches
	resource string
	once     sync.Once
	closed   chan struct{}
}

// Read implements io.Reader. What has arrived is held back too.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	for gate := s.watches.gate(s.resource); gate != nil; gate = s.watches.gate(s.resource) {
		select {
		case <-gate:
		case <-s.closed:
			return 0, io.ErrUnexpectedEOF
		}
	}
	select {
	case <-s.closed:
		return 0, io.ErrUnexpectedEOF
	default:
		return n, err
	}
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.watches.forget(s)
	s.cut()
	return s.ReadCloser.Close()
}

// cut has whoever reads find the end. A Read that waits for the API server is woken up by closing
// what it reads from.
func (s *stream) cut() {
	s.once.Do(func() {
		close(s.closed)
		_ = s.ReadCloser.Close()
	})
}
