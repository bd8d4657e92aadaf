package sidecarsim_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// wantViolation wants exactly one, of an invariant.
func (r *rig) wantViolation(id string) {
	r.t.Helper()
	if got := r.Violations(); len(got) != 1 || !strings.HasPrefix(got[0], id+": ") {
		r.t.Errorf("violations %q, want one of %s", got, id)
	}
}

func TestViolations_KeyThatAnotherObjectHolds(t *testing.T) {
	for holder, bad := range map[string]bool{"": false, "mine": false, "other": true} {
		r := newRig(t)
		var address string
		r.key, address = signingKey('a')
		r.SetLeases(sidecarsim.Leases{
			Holder: func(string) string { return holder }, Owner: func(string) string { return "mine" },
		})
		r.start().configure("validator", "h1", `{}`)
		r.open("h1", address)
		r.wantState(api.SeidRunning, 1)
		if bad {
			r.wantViolation("S1")
		} else {
			r.wantNoViolations()
		}
	}
}

func TestViolations_KeyThatAnotherProcessRunsWith(t *testing.T) {
	first := newRig(t)
	var address string
	first.key, address = signingKey('b')
	second := first.beside("ns/m", types.UID("another"))
	second.key = first.key
	for _, r := range []*rig{first, second} {
		first.wantNoViolations()
		r.start().configure("validator", "h1", `{}`)
		r.open("h1", address)
		r.wantState(api.SeidRunning, 1)
	}
	first.wantViolation("S1")
}

func TestViolations_ConfigurationThatFailedValidation(t *testing.T) {
	r := newRig(t).start()
	r.SetLevel(r.node, api.LevelDrain) // which starts seid whatever is there
	r.RefuseConfig(func(map[string]string, string) error { return errors.New("bad") })
	r.must(api.ConfigApply, `{"mode":"full"}`)
	r.wantFailed(api.ConfigValidate, ``, api.CodeInvalidParams, "bad")
	r.must(api.MarkReady, ``)
	r.wantState(api.SeidRunning, 1)
	r.wantViolation("S2")
}

func TestViolations_TwoPodsOnOneVolume(t *testing.T) {
	r := newRig(t).start()
	r.beside("ns/m", types.UID("another")).start()
	r.wantNoViolations()
	intruder := r.beside("ns/o", r.claim)
	intruder.newPod()
	intruder.Started(intruder.container("seid"))
	r.wantViolation("S7")
}

func TestEndSeid_StaysEndedUntilItsContainerStartsAnew(t *testing.T) {
	r := newRig(t).start()
	r.configure("full", "h1", `{}`)
	r.open("h1", "")
	upgrade := &api.Upgrade{Name: "v7", Height: 10}
	if err := r.EndSeid(r.node, api.Exit{At: time.Now(), Reason: api.ExitUpgradeNeeded, Upgrade: upgrade}); err != nil {
		t.Fatal(err)
	}
	doc := r.document()
	if doc.Seid.State != api.SeidExited || doc.Seid.LastExit == nil || doc.Seid.LastExit.Upgrade == nil || doc.Sync.State != api.SyncNotRunning {
		t.Errorf("the document is %+v", doc)
	}
	r.restartContainer()
	r.wantState(api.SeidRunning, 2)
}

func TestAmend_ChangesTheDocumentUntilRemoved(t *testing.T) {
	r := newRig(t).start()
	remove := r.Amend(r.node, func(doc *api.Node) { doc.Disk = &api.Disk{Size: 7} })
	if doc := r.document(); doc.Disk == nil || doc.Disk.Size != 7 {
		t.Errorf("disk %+v, want Disk not nil and Size 7", doc.Disk)
	}
	remove()
	if doc := r.document(); doc.Disk != nil {
		t.Errorf("disk %+v, want nil", doc.Disk)
	}
}

func TestFurnish_ImportedVolume_HasBeenInSync(t *testing.T) {
	r := newRig(t)
	r.Furnish(r.claim, seid.ModeFull, map[string]string{"evm.http_port": "1"})
	r.start()
	if home := r.Home(r.node); home.Stage != api.HomeSynced || home.ConfigHash != "" || home.GenesisHash == "" {
		t.Errorf("the home is %+v", home)
	}
	if got := r.Disk(r.node).Overrides["evm.http_port"]; got != "1" {
		t.Errorf("the override is %q", got)
	}
}
