package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// call is one call of the operator that can be disturbed: a write to the API, or any request to a
// sidecar.
type call struct {
	// toAPI tells a write to the API from a request to a sidecar.
	toAPI bool
	verb  string
	// object is the resource and the name of an object, or the node of a sidecar.
	object string
	// nth counts the calls of the same verb and object, from 1. The order of calls on different
	// objects depends on who is quicker; this does not.
	nth int
	// changes reports whether something is different afterwards.
	changes bool
}

func (c call) kind() string { return c.verb + " " + c.object }

// String is how a call is named in a replay.
func (c call) String() string { return fmt.Sprintf("%s %d", c.kind(), c.nth) }

// besides are writes beside the reconciles: nothing depends on an event, and whoever needs a token
// asks for another one.
var besides = []string{"", "events", "serviceaccounts"}

// apiCall names a write to the API.
func apiCall(describer *envtest.Recorder, req *http.Request) (_ call, counts bool, _ error) {
	if req.Method == http.MethodGet {
		return call{}, false, nil
	}
	r, err := describer.Describe(req)
	if err != nil || !r.IsWrite() || slices.Contains(besides, r.Resource) {
		return call{}, false, err
	}
	verb := r.Verb
	if r.DryRun {
		verb = "try-" + verb
	}
	return call{toAPI: true, verb: verb, object: r.Target() + " " + r.Name, changes: !r.DryRun}, true, nil
}

// sidecarCall names a request to a sidecar. typeOf knows the tasks that were submitted before.
func sidecarCall(req *http.Request, typeOf map[string]string) (call, error) {
	_, node, _ := strings.Cut(req.Header.Get(api.HeaderNode), "/")
	c := call{object: node, verb: req.Method + " " + req.URL.Path}
	id, isTask := strings.CutPrefix(req.URL.Path, "/v0/tasks/")
	switch {
	case req.URL.Path == api.PathNode:
		c.verb = "look"
	case req.Method == http.MethodPost && req.URL.Path == "/v0/tasks":
		task, err := peek(req)
		if err != nil {
			return call{}, err
		}
		typeOf[task.ID] = string(task.Type)
		c.verb, c.changes = "submit-"+string(task.Type), true
	case isTask && req.Method == http.MethodDelete:
		c.verb, c.changes = strings.TrimSuffix("cancel-"+typeOf[id], "-"), true
	case isTask && req.URL.Query().Has("wait"):
		c.verb = strings.TrimSuffix("await-"+typeOf[id], "-")
	case isTask:
		c.verb = strings.TrimSuffix("ask-"+typeOf[id], "-")
	}
	return c, nil
}

// peek reads what is submitted and puts it back.
func peek(req *http.Request) (task api.TaskRequest, err error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return task, fmt.Errorf("reading a submission: %w", err)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	if err := json.Unmarshal(body, &task); err != nil {
		return task, fmt.Errorf("reading a submission: %w", err)
	}
	return task, nil
}
