package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// auditPolicy has the API server write down what the operator asks for, and nothing
// else. What happens in its own namespace, a lease and an event about it, is the price
// of leader election and not of nodes, but for tokens; watches are no requests for a node either.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: ["system:serviceaccount:` + operatorNamespace + ":" + operatorAccount + `"]
  resources: [{group: "", resources: [serviceaccounts/token]}]
- level: None
  namespaces: [` + operatorNamespace + `]
- level: None
  verbs: [watch]
- level: None
  nonResourceURLs: ["*"]
- level: Metadata
  users: ["system:serviceaccount:` + operatorNamespace + ":" + operatorAccount + `"]
- level: None
`

// prepareAudit writes the policy and says how the API server learns of it.
func (w *world) prepareAudit() ([]string, error) {
	policy, path := filepath.Join(w.dir, "audit-policy.yaml"), filepath.Join(w.dir, "audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, fmt.Errorf("writing the audit policy: %w", err)
	}
	w.audit = &auditLog{path: path}
	return []string{
		"--audit-policy-file=" + policy, "--audit-log-path=" + path,
		"--audit-log-mode=blocking", "--audit-log-maxsize=10000",
	}, nil
}

// request is one request of the operator, as the API server saw it.
type request struct {
	Verb   string `json:"verb"`
	Object struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	Response struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Time time.Time `json:"requestReceivedTimestamp"`
}

// kind names a request the way RBAC does.
func (r request) kind() string {
	if r.Object.Subresource != "" {
		return r.Verb + " " + r.Object.Resource + "/" + r.Object.Subresource
	}
	return r.Verb + " " + r.Object.Resource
}

func (r request) isRead() bool { return r.Verb == "get" || r.Verb == "list" }

// isToken reports whether a token was asked for, which writes nothing.
func (r request) isToken() bool { return r.kind() == "create serviceaccounts/token" }

// auditLog is the API server's log of the operator's requests.
type auditLog struct {
	path     string
	offset   int64
	requests []request
}

// between are the requests that arrived in a span of time. What is still being
// answered is not in the log yet.
func (a *auditLog) between(from, to time.Time) ([]request, error) {
	if err := a.read(); err != nil {
		return nil, err
	}
	var found []request
	for _, r := range a.requests {
		if !r.Time.Before(from) && r.Time.Before(to) {
			found = append(found, r)
		}
	}
	return found, nil
}

// read takes in what was added to the file; a last line without its end stays.
func (a *auditLog) read() error {
	file, err := os.Open(a.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing was asked yet
	}
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(a.offset, io.SeekStart); err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the audit log: %w", err)
		}
		a.offset += int64(len(line))
		var r request
		if err := json.Unmarshal(bytes.TrimSpace(line), &r); err != nil {
			return fmt.Errorf("reading the audit log: %w", err)
		}
		a.requests = append(a.requests, r)
	}
}

// Requests counts what the operator asked of the API server.
type Requests struct {
	Writes    int `json:"writes"`
	Reads     int `json:"reads"`
	Conflicts int `json:"conflicts"`
	// Tokens are requests for tokens that sidecars are shown.
	Tokens int `json:"tokens"`
	// ByKind counts by verb and resource.
	ByKind map[string]int `json:"byKind"`
}

func count(requests []request) Requests {
	c := Requests{ByKind: map[string]int{}}
	for _, r := range requests {
		switch {
		case r.isRead():
			c.Reads++
		case r.isToken():
			c.Tokens++
		default:
			c.Writes++
		}
		if r.Response.Code == 409 {
			c.Conflicts++
		}
		c.ByKind[r.kind()]++
	}
	return c
}

// firstPodDelete is when the operator first asked for a pod to be deleted.
func firstPodDelete(requests []request) (time.Time, bool) {
	i := slices.IndexFunc(requests, func(r request) bool { return r.kind() == "delete pods" })
	if i < 0 {
		return time.Time{}, false
	}
	return requests[i].Time, true
}
