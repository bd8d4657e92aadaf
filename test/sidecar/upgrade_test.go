package sidecar_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// moved is the next pod on the node's volume: another sidecar, and a binary that has the upgrades of
// the list. seid takes its list from the environment when it is there.
func (n *node) moved(upgrades ...string) {
	n.t.Helper()
	if n.pod != nil {
		n.pod.kill()
		n.Kill()
		n.Restart()
	}
	n.run(podSpec{restart: true, env: []string{"UPGRADE_VERSION_LIST=" + strings.Join(upgrades, ",")}})
	do[any](n, api.MarkReady, nil)
}

func (n *node) awaitRefusal(kind api.UpgradeRefusalKind, name string) api.Node {
	n.t.Helper()
	doc, _ := n.awaitDocument("refusal "+string(kind), func(d api.Node) bool { return d.Upgrades.Refusal != nil })
	if r := doc.Upgrades.Refusal; r.Kind != kind || r.Name != name || !strings.Contains(r.Message, name) {
		n.t.Errorf("refusal %+v, want %s of %s", r, kind, name)
	}
	return doc
}

// One real binary under three lists of upgrades: too old, right, too old again for what is applied,
// and too new. What it says in its own words is what the document tells.
func TestUpgrade_OfALoneValidator_IsToldThroughEveryBinary(t *testing.T) {
	v := newNode(t, "upgrade-1", "v0", "")
	prepared(t, v)
	v.moved("u0")
	inSync := func(d api.Node) bool { return d.Sync.State == api.SyncInSync && d.Upgrades.Known }
	doc, _ := v.awaitDocument("inSync", inSync)
	if diff := cmp.Diff(&api.Upgrades{Known: true}, doc.Upgrades); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	height := v.height() + 15
	v.vote("u1", height, "")
	doc = v.awaitRefusal(api.RefusedNeeded, "u1")
	want := &api.Upgrade{Name: "u1", Height: height}
	if diff := cmp.Diff(want, doc.Upgrades.Needed); diff != "" || doc.Sync.State != api.SyncUpgradeNeeded {
		t.Errorf("halted (-want +got):\n%s%+v", diff, doc.Sync)
	}
	v.moved("u0", "zz")
	doc = v.awaitRefusal(api.RefusedNeeded, "u1")
	if diff := cmp.Diff(want, doc.Upgrades.Needed); diff != "" {
		t.Errorf("the wrong image (-want +got):\n%s", diff)
	}
	v.moved("u0", "u1")
	doc, _ = v.awaitDocument("u1 to be applied", func(d api.Node) bool { return inSync(d) && len(d.Upgrades.Applied) > 0 })
	applied := &api.Upgrades{Known: true, Applied: []api.AppliedUpgrade{{Name: "u1", Height: height}}}
	if diff := cmp.Diff(applied, doc.Upgrades); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	v.moved("u0")
	doc = v.awaitRefusal(api.RefusedHandlerMissing, "u1")
	if diff := cmp.Diff(applied.Applied, doc.Upgrades.Applied); diff != "" || doc.Upgrades.Needed != nil {
		t.Errorf("an older binary (-want +got):\n%s%+v", diff, doc.Upgrades.Needed)
	}
}
