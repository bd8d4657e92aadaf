package sidecarsim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Request is one request a sidecar got.
type Request struct {
	Time   time.Time
	Node   string
	Pod    types.UID
	Method string
	// Path with its query.
	Path string
	// Task and Type are set for submissions.
	Task string
	Type api.TaskType
	// Status that was answered; 0 while there is no answer.
	Status int
	// GivenUp: the caller has gone without an answer.
	GivenUp bool
}

// Fault is how a sidecar misbehaves towards its callers.
type Fault struct {
	// Method and PathPrefix narrow it down; empty means every request.
	Method, PathPrefix string
	// Hang never answers.
	Hang bool
	// Status answers with this code and an error body.
	Status int
	// Garbage answers 200 with something that is no JSON.
	Garbage bool
	// AfterEffect does what was asked and spoils only the answer.
	AfterEffect bool
}

type faultRule struct {
	node  string
	fault Fault
}

// Break makes a node's sidecar misbehave until the returned function is
// called. An empty node means every one; what was broken last counts.
func (s *Sidecars) Break(node string, fault Fault) (repair func()) {
	r := &faultRule{node, fault}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, r)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.faults = slices.DeleteFunc(s.faults, func(other *faultRule) bool { return other == r })
	}
}

func (s *Sidecars) faultFor(p *process, r *http.Request) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cutOff[p.pod.UID] {
		return Fault{Hang: true}, true
	}
	for _, f := range slices.Backward(s.faults) {
		if (f.node == "" || f.node == p.node) && (f.fault.Method == "" || f.fault.Method == r.Method) &&
			strings.HasPrefix(r.URL.Path, f.fault.PathPrefix) {
			return f.fault, true
		}
	}
	return Fault{}, false
}

// ServeHTTP notes the request and answers it, or misbehaves.
func (p *process) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	note := Request{Time: time.Now(), Node: p.node, Pod: p.pod.UID, Method: r.Method, Path: r.URL.RequestURI()}
	if r.Method == http.MethodPost && r.URL.Path == "/v0/tasks" {
		task := peekTask(r)
		note.Task, note.Type = task.ID, task.Type
	}
	index := p.all.note(note)
	p.mu.RLock()
	handler := p.handler
	p.mu.RUnlock()

	fault, broken := p.all.faultFor(p, r)
	if !broken {
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		handler.ServeHTTP(seen, r)
		p.answered(index, note, seen.status, seen.body.Bytes())
		return
	}
	if fault.AfterEffect {
		spoiled := &discard{header: http.Header{}, status: http.StatusOK}
		handler.ServeHTTP(spoiled, r)
		p.answered(index, note, spoiled.status, spoiled.body.Bytes())
	}
	p.misbehave(w, r, fault, index)
}

// misbehave answers wrongly. Requests that hang do so until the caller or the
// process is gone.
func (p *process) misbehave(w http.ResponseWriter, r *http.Request, fault Fault, index int) {
	switch {
	case fault.Hang:
		<-r.Context().Done()
		p.all.setGivenUp(index)
	case fault.Garbage:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "<html>it works!</html>")
		p.all.setStatus(index, http.StatusOK)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(fault.Status)
		_, _ = io.WriteString(w, `{"error":"broken on command"}`+"\n")
		p.all.setStatus(index, fault.Status)
	}
}

func (p *process) answered(index int, note Request, status int, body []byte) {
	p.all.setStatus(index, status)
	var accepted api.TaskAccepted
	if status == http.StatusCreated && movesGate(note.Type) && json.Unmarshal(body, &accepted) == nil {
		p.gateMoved(accepted.ID)
	}
}

// peekTask reads what is submitted and puts it back.
func peekTask(r *http.Request) api.TaskRequest {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), &failedReader{err}))
	var task api.TaskRequest
	if err != nil || json.Unmarshal(body, &task) != nil {
		return api.TaskRequest{}
	}
	return task
}

// failedReader hands on how reading ended.
type failedReader struct{ err error }

// Read implements io.Reader.
func (r *failedReader) Read([]byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return 0, io.EOF
}

func (s *Sidecars) note(r Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	return len(s.requests) - 1
}

func (s *Sidecars) setStatus(index, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[index].Status = status
}

func (s *Sidecars) setGivenUp(index int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[index].GivenUp = true
}

// Hanging counts the requests whose callers wait for an answer at this moment.
func (s *Sidecars) Hanging() int {
	n := 0
	for _, r := range s.Requests("") {
		if r.Status == 0 && !r.GivenUp {
			n++
		}
	}
	return n
}

// Requests are the requests a node's sidecars got, in order; an empty node
// means all.
func (s *Sidecars) Requests(node string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Request
	for _, r := range s.requests {
		if node == "" || r.Node == node {
			found = append(found, r)
		}
	}
	return found
}

// Submissions are the types of the tasks that a node's sidecars accepted, in
// order: what an operator that submits everything once leaves behind.
func (s *Sidecars) Submissions(node string) []api.TaskType {
	var accepted []api.TaskType
	for _, r := range s.Requests(node) {
		if r.Type != "" && r.Status == http.StatusCreated {
			accepted = append(accepted, r.Type)
		}
	}
	return accepted
}

// statusWriter remembers status and body of a submission's answer.
type statusWriter struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == http.StatusCreated {
		w.body.Write(b)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// discard is an answer nobody gets.
type discard struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (d *discard) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *discard) WriteHeader(status int) { d.status = status }

// Write implements http.ResponseWriter.
func (d *discard) Write(b []byte) (int, error) { return d.body.Write(b) }
