package envtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
)

// Recorder writes down every API request that goes through a configuration.
type Recorder struct {
	mu       sync.Mutex
	requests Requests
	resolver request.RequestInfoResolver
}

// Recorded is a copy of the administrator's configuration whose requests are
// written down. Give it to the code under test.
func (e *Env) Recorded() (*rest.Config, *Recorder) {
	config := rest.CopyConfig(e.Config)
	recorder := NewRecorder()
	config.Wrap(recorder.Wrap)
	return config, recorder
}

// NewRecorder makes a recorder; hook it in with rest.Config.Wrap(recorder.Wrap).
func NewRecorder() *Recorder {
	return &Recorder{resolver: &request.RequestInfoFactory{
		APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
	}}
}

// Wrap records what passes to the next transport. A request is written down before it
// is sent, so that whoever sees what it did finds it here; its answer is added later.
func (r *Recorder) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		entry, err := r.Describe(req)
		if err != nil {
			return nil, err
		}
		r.mu.Lock()
		place := len(r.requests)
		r.requests = append(r.requests, entry)
		r.mu.Unlock()
		resp, err := next.RoundTrip(req)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests[place].Duration = time.Since(entry.Time)
		if resp != nil {
			r.requests[place].Code = resp.StatusCode
			noteUse(r.requests[place])
		}
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Describe names what a request asks for, the way the API server itself does.
func (r *Recorder) Describe(req *http.Request) (Request, error) {
	info, err := r.resolver.NewRequestInfo(req)
	if err != nil {
		return Request{}, fmt.Errorf("describing %s %s: %w", req.Method, req.URL.Path, err)
	}
	entry := Request{
		Time: time.Now(), Verb: info.Verb, Group: info.APIGroup, Resource: info.Resource, Subresource: info.Subresource,
		Namespace: info.Namespace, Name: info.Name, Path: req.URL.Path, UserAgent: req.UserAgent(),
		DryRun: req.URL.Query().Get("dryRun") != "", ContentType: req.Header.Get("Content-Type"),
	}
	if info.Verb == "create" && info.Name == "" && req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return Request{}, fmt.Errorf("reading the body of %s %s: %w", req.Method, req.URL.Path, err)
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		entry.Name = nameIn(body)
	}
	return entry, nil
}

// protobufMagic begins every object that Kubernetes sends as protobuf.
var protobufMagic = []byte("k8s\x00")

// nameIn finds the name in an object that is being created: it is in the body
// only. A generated name shows as "prefix*".
func nameIn(body []byte) string {
	var object metav1.PartialObjectMetadata
	if raw, ok := bytes.CutPrefix(body, protobufMagic); ok {
		var envelope runtime.Unknown
		if envelope.Unmarshal(raw) != nil || object.Unmarshal(envelope.Raw) != nil {
			return ""
		}
	} else if json.Unmarshal(body, &object) != nil {
		return ""
	}
	if object.Name == "" && object.GenerateName != "" {
		return object.GenerateName + "*"
	}
	return object.Name
}

// Mark is a position in the record.
type Mark int

// Mark is the position after everything recorded so far.
func (r *Recorder) Mark() Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Mark(len(r.requests))
}

// All is everything recorded, in the order in which it was sent.
func (r *Recorder) All() Requests { return r.Since(0) }

// Since is what was recorded after a mark.
func (r *Recorder) Since(mark Mark) Requests {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(Requests(nil), r.requests[mark:]...)
}
