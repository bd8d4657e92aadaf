package permissions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// Why a right shows in no request although it is needed.
const (
	byAdmission = "admission asks for it where an owner blocks its deletion"
	byPolicy    = "config/policies asks for it where a fleet votes; the tests of test/envtest/install try that"
	byElection  = "client-go patches an event that repeats, and leader election tells once per process who leads"
)

// unseen are such rights, in whatever run.
var unseen = map[envtest.Use]string{
	{Group: "sei.io", Resource: "seinodes/finalizers", Verb: "update"}:           byAdmission,
	{Group: "sei.io", Resource: "seinodedeployments/finalizers", Verb: "update"}: byAdmission,
	{Group: "sei.io", Resource: "seinodetasks/finalizers", Verb: "update"}:       byAdmission,
	{Group: "sei.io", Resource: "seinodetasks", Verb: "sign"}:                    byPolicy,
	{Group: "", Resource: "events", Verb: "patch"}:                               byElection,
}

// onPods are rights that it takes real pods to use, each with the reason: the envtests leave them to the
// end-to-end tests. None so far. Those need root, so a right that a simulated pod can bring about has an
// envtest.
var onPods = map[envtest.Use]string{}

// usesVariable names the folder where the runs have left what they used.
const usesVariable = "PERMISSIONS_USES"

func TestExemptions_AreForRightsOfTheRoles(t *testing.T) {
	rights := map[envtest.Use]bool{}
	for _, right := range granted(t) {
		rights[right] = true
	}
	for _, exempt := range []map[envtest.Use]string{unseen, onPods} {
		for right := range exempt {
			if !rights[right] {
				t.Errorf("%s: no role has it; take the exemption out", right)
			}
		}
	}
}

// The stage envtest ends with this, after all packages have written what their operators used.
func TestRoles_EveryRuleIsUsed(t *testing.T) {
	folder := usesFolder(t)
	all, rights := runsOf(t, folder), granted(t)
	delete(all, e2e)
	if len(all) == 0 {
		t.Fatalf("no test has written what it used to %s", folder)
	}
	for _, right := range all.unused(rights, unseen, onPods) {
		t.Errorf("%s: no test needs it; remove the rule, or add a test of what it is for. If that takes real pods, add it to onPods", right)
	}
	requireUnseen(t, all)
	if !t.Failed() {
		write(t, filepath.Join(folder, checkedFile), lines(rights))
	}
}

// The stage e2e ends with this. It needs what the envtests used, and is left out visibly where that is not
// known.
func TestRoles_WithTheEndToEndTests_EveryRuleIsUsed(t *testing.T) {
	folder := usesFolder(t)
	all, rights := runsOf(t, folder), granted(t)
	checked, err := os.ReadFile(filepath.Join(folder, checkedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	report := filepath.Join(folder, reportFile)
	if why := all.leftOut(rights, string(checked)); why != "" {
		write(t, report, "SKIPPED: that every right of the operator is used: "+why+"\n")
		t.Skip("skipped: " + why)
	}
	write(t, report, all.report(rights))
	for _, right := range all.unused(rights, unseen) {
		t.Errorf("%s: neither an envtest nor an end-to-end test needs it; remove the rule, or add a test of what it is for", right)
	}
	requireUnseen(t, all)
}

func usesFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(usesVariable)
	if folder == "" {
		t.Skip("skipped: the stages envtest and e2e set " + usesVariable + " to where they leave what they used")
	}
	return folder
}

// requireUnseen fails for exemptions that are not needed.
func requireUnseen(t *testing.T, all runs) {
	t.Helper()
	for right, why := range unseen {
		if by := all.usedBy(right); len(by) > 0 {
			t.Errorf("%s is exempt (%s), and was used by %s: take the exemption out", right, why, strings.Join(by, ", "))
		}
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
