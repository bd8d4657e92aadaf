package security

import (
	"net/http"
	"regexp"
)

// anID is the id of a task that does not exist.
const anID = "00000000-0000-4000-8000-000000000000"

// Request is something to ask a sidecar for.
type Request struct {
	Method string
	// Path is that of the route, as the sidecar registers it, or another spelling of one.
	Path string
	// Send is the path that is sent; empty means Path.
	Send string
	Body string
	// Open says that everybody gets an answer.
	Open bool
	// Answers are the statuses that are right: for everybody if the request is open, for the operator's token otherwise.
	Answers []int
	// Tells is all that an answer to a stranger may hold, and What says it in words.
	Tells *regexp.Regexp
	What  string
}

// Target is the path to send.
func (r Request) Target() string {
	if r.Send != "" {
		return r.Send
	}
	return r.Path
}

var (
	nothing = regexp.MustCompile(`^$`)
	// A refusal is one sentence in JSON.
	refusal = regexp.MustCompile(`^\{"error":"[^"\\]*(\\"[^"\\]*)*","errorDetail":\{"code":"(Unauthenticated|Forbidden)"[^{}]*\}\}\n$`)
	ok      = []int{http.StatusOK}
)

// Requests are all routes of a sidecar, and spellings that might get around its rules. Those that change something are
// such that nothing happens even to the operator.
var Requests = []Request{
	{Method: http.MethodGet, Path: "/v0/healthz", Open: true, Answers: ok, Tells: nothing, What: "whether the gate is open"},
	{Method: http.MethodGet, Path: "/v0/startupz", Open: true, Answers: ok, Tells: nothing, What: "the same"},
	{Method: http.MethodGet, Path: "/v0/livez", Open: true, Answers: ok, Tells: nothing, What: "whether the task store can be read"},
	{Method: http.MethodGet, Path: "/v0/livez", Send: "/v0/livez?verbose=1", Open: true, Answers: ok, Tells: nothing, What: "the same"},
	{Method: http.MethodGet, Path: "/v0/gate", Open: true, Answers: ok, Tells: regexp.MustCompile(`^\{"state":"open"\}\n$`), What: "whether the gate is open"},
	{Method: http.MethodGet, Path: "/v0/gate", Send: "/v0/gate?address=unknown", Open: true, Answers: ok,
		Tells: regexp.MustCompile(`^\{"state":"open","refusal":"the gate was not opened for this address"\}\n$`),
		What:  "that the address is not the one that the node signs with"},
	{Method: http.MethodGet, Path: "/v0/insync", Open: true, Answers: []int{http.StatusOK, http.StatusServiceUnavailable},
		Tells: regexp.MustCompile(`^(\{"error":"[^"{}]*"\}\n)?$`), What: "whether the node is in sync, and if not why"},
	{Method: http.MethodGet, Path: "/v0/metrics", Open: true, Answers: ok, Tells: regexp.MustCompile(`^# HELP `),
		What: "height, lag, number of peers, disk, snapshots, missed blocks and jail of a validator, tasks by type and outcome, memory of the process"},

	{Method: http.MethodGet, Path: "/v0/status", Answers: ok, Tells: refusal},
	{Method: http.MethodGet, Path: "/v0/version", Answers: ok, Tells: refusal},
	{Method: http.MethodGet, Path: "/v0/node-id", Answers: ok, Tells: refusal},
	{Method: http.MethodGet, Path: "/v0/node", Answers: ok, Tells: refusal},
	{Method: http.MethodPost, Path: "/v0/tasks", Body: `{"type":"no-such-task"}`, Answers: []int{http.StatusBadRequest}, Tells: refusal},
	{Method: http.MethodGet, Path: "/v0/tasks", Answers: ok, Tells: refusal},
	{Method: http.MethodGet, Path: "/v0/tasks/{id}", Send: "/v0/tasks/" + anID, Answers: []int{http.StatusNotFound}, Tells: refusal},
	{Method: http.MethodDelete, Path: "/v0/tasks/{id}", Send: "/v0/tasks/" + anID, Answers: []int{http.StatusNotFound}, Tells: refusal},

	{Method: http.MethodGet, Path: "//v0/node", Answers: redirected, Tells: refusal},
	{Method: http.MethodGet, Path: "/v0/healthz/../node", Answers: redirected, Tells: refusal},
	{Method: http.MethodGet, Path: "/v0/metrics/..%2fnode", Answers: []int{http.StatusNotFound}, Tells: refusal},
	{Method: http.MethodGet, Path: "/v0/healthz/", Answers: []int{http.StatusNotFound}, Tells: refusal},
	{Method: http.MethodGet, Path: "/V0/NODE", Answers: []int{http.StatusNotFound}, Tells: refusal},
	{Method: http.MethodGet, Path: "/debug/pprof/", Answers: []int{http.StatusNotFound}, Tells: refusal},
	{Method: http.MethodPut, Path: "/v0/tasks", Answers: []int{http.StatusMethodNotAllowed}, Tells: refusal},
	{Method: http.MethodOptions, Path: "/v0/tasks", Answers: []int{http.StatusMethodNotAllowed}, Tells: refusal},
	{Method: http.MethodPost, Path: "/v0/healthz", Open: true, Answers: []int{http.StatusMethodNotAllowed},
		Tells: regexp.MustCompile(`^Method Not Allowed\n$`), What: "nothing"},
}

// redirected: net/http sends callers with an untidy path to the tidy one, where they are asked again who they are.
var redirected = []int{http.StatusMovedPermanently, http.StatusTemporaryRedirect}
