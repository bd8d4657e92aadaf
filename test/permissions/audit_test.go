package permissions

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// The lines are those of an API server, shortened.
const auditLog = `
{"stage":"ResponseStarted","requestURI":"/api/v1/pods?watch=true","verb":"watch","user":{"username":"op"},"objectRef":{"resource":"pods","apiVersion":"v1"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-11-18T10:00:01.000001Z"}
{"stage":"ResponseComplete","verb":"patch","user":{"username":"op"},"objectRef":{"resource":"statefulsets","namespace":"n","name":"a","apiGroup":"apps","apiVersion":"v1"},"responseStatus":{"code":201},"requestReceivedTimestamp":"2026-11-18T10:00:02.000000Z"}
{"stage":"ResponseComplete","verb":"patch","user":{"username":"op"},"objectRef":{"resource":"seinodes","apiGroup":"sei.io","subresource":"status"},"responseStatus":{"status":"Failure","code":409},"requestReceivedTimestamp":"2026-11-18T10:00:03.000000Z"}
{"stage":"ResponseComplete","verb":"get","user":{"username":"op"},"objectRef":{"resource":"jobs","apiGroup":"batch"},"responseStatus":{"code":404},"requestReceivedTimestamp":"2026-11-18T10:00:04.000000Z"}
{"stage":"ResponseComplete","verb":"list","user":{"username":"op"},"objectRef":{"resource":"secrets"},"responseStatus":{"code":403},"requestReceivedTimestamp":"2026-11-18T10:00:05.000000Z"}
{"stage":"ResponseComplete","verb":"delete","user":{"username":"op"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-11-18T09:59:59.000000Z"}
{"stage":"ResponseComplete","verb":"create","user":{"username":"admin"},"objectRef":{"resource":"nodes","name":"op"},"responseStatus":{"code":201},"requestReceivedTimestamp":"2026-11-18T10:00:06.000000Z"}
{"stage":"ResponseComplete","verb":"get","user":{"username":"op"},"requestURI":"/apis","responseStatus":{"code":200},"requestReceivedTimestamp":"2026-11-18T10:00:07.000000Z"}
{"stage":"ResponseComplete","verb":"update","user":{"username":"op"},"objectRef":{"resource":"leases"},"re{"stage":"ResponseComplete","verb":"get"}
{"stage":"ResponseComplete","verb":"update","user":{"username":"op"},"objectRef":{"resource":"leases"},"resp`

// What counts is what the user was allowed since then: not what was refused, what somebody else asked for,
// what was before, what is no resource, and what is not there to its end.
func TestReadAudit_OnlyWhatTheUserWasAllowedSince_Counts(t *testing.T) {
	used := Uses{}
	since := time.Date(2026, 11, 18, 10, 0, 0, 0, time.UTC)
	if err := used.ReadAudit(strings.NewReader(strings.TrimSpace(auditLog)), "op", since); err != nil {
		t.Fatal(err)
	}
	want := Uses{
		{Resource: "pods", Verb: "watch"}:                             true,
		{Group: "apps", Resource: "statefulsets", Verb: "patch"}:      true,
		{Group: "apps", Resource: "statefulsets", Verb: "create"}:     true, // by an apply
		{Group: "sei.io", Resource: "seinodes/status", Verb: "patch"}: true,
		{Group: "batch", Resource: "jobs", Verb: "get"}:               true,
	}
	if diff := cmp.Diff(want, used); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUses_WrittenAndRead_AreTheSame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "uses", E2EFile)
	jobs, pods := envtest.Use{Group: "batch", Resource: "jobs", Verb: "get"}, envtest.Use{Resource: "pods", Verb: "watch"}
	for _, step := range []struct {
		write Uses
		add   bool
		want  Uses
	}{
		{Uses{jobs: true, pods: true}, true, Uses{jobs: true, pods: true}},
		{Uses{jobs: true}, false, Uses{jobs: true}},
		{Uses{jobs: true, pods: true}, true, Uses{jobs: true, pods: true}},
		{Uses{pods: true}, true, Uses{jobs: true, pods: true}},
	} {
		if err := step.write.Write(file, step.add); err != nil {
			t.Fatal(err)
		}
		read, err := readUses(file)
		if diff := cmp.Diff(step.want, read); diff != "" || err != nil {
			t.Errorf("%v written, added: %t: %v (-want +got):\n%s", step.write, step.add, err, diff)
		}
	}
}
