package permissions

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// Why a right may show in no request of a run although it is needed.
const (
	byAdmission = "admission asks for it where an owner blocks its deletion"
	lateCache   = "asked when a cache does not show our own write for some seconds"
	repeated    = "an event that repeats is patched"
	byPolicy    = "config/policies asks for it where a fleet votes; the tests of test/envtest/install try that"
)

// unseen are such rights.
var unseen = map[envtest.Use]string{
	{Group: "sei.io", Resource: "seinodes/finalizers", Verb: "update"}:           byAdmission,
	{Group: "sei.io", Resource: "seinodedeployments/finalizers", Verb: "update"}: byAdmission,
	{Group: "sei.io", Resource: "seinodetasks/finalizers", Verb: "update"}:       byAdmission,
	{Group: "sei.io", Resource: "seinodetasks", Verb: "sign"}:                    byPolicy,
	{Group: "sei.io", Resource: "seinodes", Verb: "get"}:                         lateCache,
	{Group: "sei.io", Resource: "seinodetasks", Verb: "get"}:                     lateCache,
	{Group: "", Resource: "services", Verb: "get"}:                               lateCache,
	{Group: "apps", Resource: "controllerrevisions", Verb: "get"}:                lateCache,
	{Group: "batch", Resource: "jobs", Verb: "get"}:                              lateCache,
	{Group: "policy", Resource: "poddisruptionbudgets", Verb: "get"}:             lateCache,
	{Group: "networking.k8s.io", Resource: "networkpolicies", Verb: "get"}:       lateCache,
	{Group: "events.k8s.io", Resource: "events", Verb: "patch"}:                  repeated,
	{Group: "", Resource: "events", Verb: "patch"}:                               repeated,
}

// isUsed reports whether a right was used. A watch begins with what there is; older API servers cannot
// do that, and are asked for a list first.
func isUsed(used map[envtest.Use]bool, use envtest.Use) bool {
	if use.Verb == "list" && used[envtest.Use{Group: use.Group, Resource: use.Resource, Verb: "watch"}] {
		return true
	}
	return used[use] || unseen[use] != ""
}

// make test-envtest runs this after all packages have written what their operators used.
func TestRoles_EveryRuleIsUsed(t *testing.T) {
	folder := os.Getenv("PERMISSIONS_USES")
	if folder == "" {
		t.Skip("skipped: make test-envtest sets PERMISSIONS_USES to what the tests have used")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no test has written what it used to %s: %v", folder, err)
	}
	used := map[envtest.Use]bool{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var uses []envtest.Use
		if err := json.Unmarshal(content, &uses); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, use := range uses {
			used[use] = true
		}
	}
	for _, use := range granted(t) {
		if !isUsed(used, use) {
			t.Errorf("%s: no test needs it; remove the rule, or add a test of what it is for", use)
		}
	}
}
