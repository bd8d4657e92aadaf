package permissions

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// E2EFile is what the end-to-end tests call their file, beside those of the packages of test/envtest.
const E2EFile = "e2e.json"

// Uses are kinds of requests that the operator has made.
type Uses map[envtest.Use]bool

// ReadAudit adds what a user was allowed to ask of an API server since a time, by the server's audit log. Lines
// that are half written are left out: one at the end, or of a server that was killed.
func (u Uses) ReadAudit(log io.Reader, user string, since time.Time) error {
	lines := bufio.NewReaderSize(log, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the audit log: %w", err)
		}
		if !bytes.Contains(line, []byte(user)) { // most lines are about other users, and need not be decoded
			continue
		}
		var event auditv1.Event
		if json.Unmarshal(line, &event) == nil && event.User.Username == user && !event.RequestReceivedTimestamp.Time.Before(since) {
			u.add(&event)
		}
	}
}

// add takes in a request that was allowed, as the recorder of test/envtest does.
func (u Uses) add(event *auditv1.Event) {
	if event.ObjectRef == nil || event.ObjectRef.Resource == "" || event.ResponseStatus == nil {
		return
	}
	switch event.ResponseStatus.Code {
	case 0, http.StatusForbidden, http.StatusUnauthorized:
		return
	}
	use := envtest.Use{Group: event.ObjectRef.APIGroup, Resource: event.ObjectRef.Resource, Verb: event.Verb}
	if event.ObjectRef.Subresource != "" {
		use.Resource += "/" + event.ObjectRef.Subresource
	}
	u[use] = true
	if use.Verb == "patch" && event.ResponseStatus.Code == http.StatusCreated { // an apply that creates needs both
		use.Verb = "create"
		u[use] = true
	}
}

// Write leaves the uses in a file, or adds them to what it has, in the format of test/envtest.
func (u Uses) Write(file string, add bool) error {
	return envtest.WriteUses(file, slices.Collect(maps.Keys(u)), add)
}

// readUses reads such a file.
func readUses(file string) (Uses, error) {
	list, err := envtest.ReadUses(file)
	if err != nil {
		return nil, err
	}
	used := Uses{}
	for _, use := range list {
		used[use] = true
	}
	return used, nil
}
