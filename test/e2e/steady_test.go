package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/elapse"
)

// quiet is how long nothing may be written: twice the operator's slowest poll.
const quiet = time.Minute

// A4: a settled network costs the API server no write, by its own books.
func TestNetwork_Settled_IsNeverWrittenTo(t *testing.T) {
	s := found(t, "steady")
	s.create(s.validator("validator"))
	s.create(s.fullNode("full"))
	s.awaitInSync("validator")
	s.awaitInSync("full")
	// The validator's peer is known only since the full node has its identity; that change settles first.
	s.awaitBlocks("full", 5)
	s.awaitInSync("validator")

	from := s.auditSize()
	before := s.versions()
	elapse.For(t.Context(), quiet) // nothing is awaited: that nothing happens is the point
	if after := s.versions(); !slices.Equal(before, after) {
		t.Errorf("objects changed:\n%v\n%v", before, after)
	}
	for _, write := range s.operatorWrites(from) {
		t.Errorf("the operator wrote: %s", write)
	}
}

// versions are the resource versions of all objects the operator makes or reports on.
func (s *scenario) versions() []string {
	s.t.Helper()
	found := make([]string, 0, 8)
	for _, list := range []client.ObjectList{
		&v1alpha1.SeiNodeList{}, &appsv1.StatefulSetList{}, &corev1.ServiceList{}, &corev1.PersistentVolumeClaimList{},
	} {
		if err := s.List(s.t.Context(), list, client.InNamespace(s.namespace)); err != nil {
			s.t.Fatal(err)
		}
		data, err := json.Marshal(list)
		if err != nil {
			s.t.Fatal(err)
		}
		var objects struct {
			Items []struct {
				Metadata struct{ Name, ResourceVersion string }
			}
		}
		decode(s.t, data, &objects)
		for _, o := range objects.Items {
			found = append(found, fmt.Sprintf("%T %s %s", list, o.Metadata.Name, o.Metadata.ResourceVersion))
		}
	}
	return found
}

func (s *scenario) auditLog() string { return filepath.Join(s.state, "audit", "audit.log") }

func (s *scenario) auditSize() int64 {
	s.t.Helper()
	info, err := os.Stat(s.auditLog())
	if err != nil {
		s.t.Fatal(err)
	}
	return info.Size()
}

// operatorWrites are the operator's writes to the scenario's namespace since the audit log had a size.
func (s *scenario) operatorWrites(from int64) []string {
	s.t.Helper()
	var found []string
	requests := s.operatorRequests(from)
	for _, request := range requests {
		ref := request.ObjectRef
		if ref.Namespace == s.namespace && !slices.Contains([]string{"get", "list", "watch"}, request.Verb) {
			found = append(found, fmt.Sprintf("%s %s/%s %s", request.Verb, ref.Resource, ref.Subresource, ref.Name))
		}
	}
	if len(requests) == 0 {
		s.t.Error("the audit log has nothing of the operator, not even its lease: it proves nothing")
	}
	return found
}

// auditedRequest is a line of the audit log.
type auditedRequest struct {
	Verb           string
	User           struct{ Username string }
	ObjectRef      struct{ Namespace, Resource, Subresource, Name string }
	ResponseStatus struct{ Code int }
	Received       time.Time `json:"requestReceivedTimestamp"`
}

// operatorRequests are all requests of the operator since the audit log had a size.
func (s *scenario) operatorRequests(from int64) []auditedRequest {
	s.t.Helper()
	file, err := os.Open(s.auditLog())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		s.t.Fatal(err)
	}
	var found []auditedRequest
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var request auditedRequest
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			continue // the last line may be half written
		}
		if request.User.Username == operatorAccount {
			found = append(found, request)
		}
	}
	return found
}
