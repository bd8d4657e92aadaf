package node_test

import (
	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// walk is a list of three upgrades over a first image.
func walk() *v1alpha1.SeiNodeSpec {
	return &v1alpha1.SeiNodeSpec{
		Image: "seid:v6", FullNode: &v1alpha1.FullNodeSpec{},
		Upgrades: []v1alpha1.ChainUpgrade{{Name: "v7", Image: "seid:v7"}, {Name: "v8", Image: "seid:v8"}, {Name: "v9", Image: "seid:v9"}},
	}
}

// upgradeCase is a row of the table of image decisions.
type upgradeCase struct {
	change func(*node.UpgradeInput)
	// image and entry that are chosen.
	image, entry string
	// missing is the upgrade that no entry names.
	missing string
	halted  bool
	early   bool
}

// told is a document of a node that has run, with what is reported upgrades.
func told(u api.Upgrades) *api.Node {
	return &api.Node{APILevel: api.Level, Home: api.Home{Stage: api.HomeSynced}, Upgrades: &u}
}

func applied(names ...string) []api.AppliedUpgrade {
	list := make([]api.AppliedUpgrade, 0, len(names))
	for i := range names {
		list = append(list, api.AppliedUpgrade{Name: names[i], Height: int64(1000 - i)})
	}
	return list
}

// known is the document of a node that has asked its state.
func known(names ...string) *api.Node {
	return told(api.Upgrades{Known: true, Applied: applied(names...)})
}

func planned(d *api.Node, u api.Upgrade) *api.Node { d.Upgrade = &u; return d }

func needing(d *api.Node, name string) *api.Node {
	d.Upgrades.Needed = &api.Upgrade{Name: name, Height: 2000}
	d.Upgrade = d.Upgrades.Needed
	d.Sync.State = api.SyncUpgradeNeeded
	return d
}

func refusing(d *api.Node, kind api.UpgradeRefusalKind, name string) *api.Node {
	d.Upgrades.Refusal = &api.UpgradeRefusal{Kind: kind, Name: name, Message: "panic"}
	return d
}

func document(d *api.Node) func(*node.UpgradeInput) {
	return func(in *node.UpgradeInput) { in.Document = d }
}

// minor is a plan that may be taken early.
func minor(name string) api.Upgrade { return api.Upgrade{Name: name, Height: 2000, Minor: true} }

func major(name string) api.Upgrade { return api.Upgrade{Name: name, Height: 2000} }

// both applies several changes.
func both(changes ...func(*node.UpgradeInput)) func(*node.UpgradeInput) {
	return func(in *node.UpgradeInput) {
		for _, c := range changes {
			c(in)
		}
	}
}

func before(s v1alpha1.UpgradeStatus) func(*node.UpgradeInput) {
	return func(in *node.UpgradeInput) { in.Before = &s }
}

func typed(index int, of v1alpha1.UpgradeType) func(*node.UpgradeInput) {
	return func(in *node.UpgradeInput) { in.Spec.Upgrades[index].Type = of }
}

func inFleet(early string) func(*node.UpgradeInput) {
	return func(in *node.UpgradeInput) { in.InFleet, in.Early = true, early }
}

// stage is a document of a home at a stage, of which nothing is known.
func stage(s api.HomeStage, snapshots ...int64) *api.Node {
	d := told(api.Upgrades{})
	d.Home.Stage = s
	for _, h := range snapshots {
		d.Snapshots = append(d.Snapshots, api.Snapshot{Height: h})
	}
	return d
}

func ofLevel(level int) *api.Node {
	return &api.Node{APILevel: level, Home: api.Home{Stage: api.HomeSynced}}
}

// haltedAt is what an older sidecar reports a halt.
func haltedAt(d *api.Node, name string) *api.Node {
	d.Sync.State, d.Upgrade = api.SyncUpgradeNeeded, &api.Upgrade{Name: name, Height: 2000}
	return d
}

func bucketAt(height int64) func(*node.UpgradeInput) {
	return func(in *node.UpgradeInput) {
		in.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{S3: &v1alpha1.S3Snapshot{TargetHeight: height}}
	}
}

func heights(of ...int64) func(*node.UpgradeInput) {
	return func(in *node.UpgradeInput) {
		for i, h := range of {
			in.Spec.Upgrades[i].Height = h
		}
	}
}

func onImage(image string) func(*node.UpgradeInput) {
	return func(in *node.UpgradeInput) { in.Running = image }
}

func stateSync(in *node.UpgradeInput) {
	in.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{StateSync: &v1alpha1.StateSyncSnapshot{}}
}
