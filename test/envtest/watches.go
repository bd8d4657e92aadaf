package envtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Watches makes a client's view of the cluster late. It stands in the way of the watches that fill
// its caches, so everything else is the real thing: reflectors that resume, list again and never go
// back to an older version. Resources are named as in a URL, for example "pods".
type Watches struct {
	mu       sync.Mutex
	resolver request.RequestInfoResolver
	// held has, by resource, what is closed when its events may continue.
	held    map[string]chan struct{}
	expired map[string]bool
	streams map[*stream]bool
	// version is that of the past which new caches are filled with; empty for the present.
	version string
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
		if info.Verb == "list" {
			return next.RoundTrip(w.rewound(req))
		}
		if info.Verb != "watch" {
			return next.RoundTrip(req)
		}
		// A watch that begins with a list is how a reflector starts over.
		withList := req.URL.Query().Get("sendInitialEvents") != ""
		if withList && w.past() != "" {
			return refuse(req, apierrors.NewBadRequest("a list of the past is not watched"))
		}
		if !withList && w.takeExpired(info.Resource) {
			return refuse(req, apierrors.NewResourceExpired("too old resource version"))
		}
		resp, err := next.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			return resp, err
		}
		s := newStream(w, info.Resource, resp.Body)
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

// Watched are the resources that are watched now.
func (w *Watches) Watched() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	resources := map[string]bool{}
	for s := range w.streams {
		resources[s.resource] = true
	}
	return slices.Sorted(maps.Keys(resources))
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

// Tell has the watches of a resource deliver an event that did not happen, in JSON: the resource has
// to be a custom one. Whoever reads it is woken up, without a write.
func (w *Watches) Tell(resource string, event watch.EventType, object runtime.Object) error {
	line, err := json.Marshal(struct {
		Type   watch.EventType `json:"type"`
		Object runtime.Object  `json:"object"`
	}{event, object})
	if err != nil {
		return fmt.Errorf("encoding an event of %s: %w", resource, err)
	}
	for _, s := range w.of(resource) {
		s.tell(append(line, '\n'))
	}
	return nil
}

func (w *Watches) of(resource string) (found []*stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.streams {
		if s.resource == resource {
			found = append(found, s)
		}
	}
	return found
}

// Cut ends the watches of a resource. The client resumes them from the last version it has seen.
func (w *Watches) Cut(resource string) {
	for _, s := range w.of(resource) {
		s.cut()
	}
}

// Expire ends the watches of a resource and forgets what was held back: the client finds its last
// version too old, lists again, and never hears of what happened in between.
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

// refuse is how an API server answers with an error.
func refuse(req *http.Request, as *apierrors.StatusError) (*http.Response, error) {
	status := as.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	body, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("encoding a status: %w", err)
	}
	return &http.Response{
		StatusCode: int(status.Code), Status: http.StatusText(int(status.Code)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}
