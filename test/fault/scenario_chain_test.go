package fault

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// witnesses are who vouches for a block to trust.
var witnesses = []v1alpha1.HostPort{"a.example.com:26657", "b.example.com:26657"}

// ofModes bring up a node of each mode that no other scenario does, and one that state-syncs.
var ofModes = []*scenario{
	newMode("archive", func(s *v1alpha1.SeiNodeSpec) { s.Archive = &v1alpha1.ArchiveSpec{} }),
	newMode("replayer", func(s *v1alpha1.SeiNodeSpec) {
		s.Peers = []v1alpha1.PeerSource{{Static: &v1alpha1.StaticPeers{
			Addresses: []v1alpha1.PeerAddress{"3be6b24cf86a5938cce7d48f44fb6598465a9924@p2p.example.com:26656"},
		}}}
		s.Replayer = &v1alpha1.ReplayerSpec{Snapshot: v1alpha1.SnapshotSource{S3: &v1alpha1.S3Snapshot{TargetHeight: 100}, RPCServers: witnesses}}
	}),
	newMode("seed", func(s *v1alpha1.SeiNodeSpec) {
		s.Seed = &v1alpha1.SeedSpec{NodeKey: v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "nodekey"}}}
	}),
	newMode("state-sync", func(s *v1alpha1.SeiNodeSpec) {
		s.FullNode = &v1alpha1.FullNodeSpec{Snapshot: &v1alpha1.SnapshotSource{
			StateSync: &v1alpha1.StateSyncSnapshot{}, RPCServers: witnesses,
		}}
	}),
}

func newMode(name string, set func(*v1alpha1.SeiNodeSpec)) *scenario {
	return &scenario{
		name:    name,
		arrange: func(r *run) { r.Create(world.Secret("nodekey", v1alpha1.SecretKeyNodeKey, world.NodeKey('s'))) },
		act: func(r *run) {
			n := world.FullNode("node")
			n.Spec.FullNode = nil
			set(&n.Spec)
			r.Create(n)
		},
		settle:  func(r *run) { r.AwaitNode("node", settled) },
		objects: []object{node("node")},
	}
}

// ofChains are about what happens to a chain.
var ofChains = []*scenario{
	{
		name: "chain-upgrade",
		arrange: func(r *run) {
			r.Sidecars.SetHandlers("seid:a", "v6")
			r.Sidecars.SetHandlers("seid:v7", "v6", "v7")
			n := world.FullNode("full")
			n.Spec.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v7", Image: "seid:v7"}}
			r.Create(n)
			r.AwaitNode("full", settled)
		},
		act: func(r *run) {
			r.Sidecars.Plan(r.Key("full"), &api.Upgrade{Name: "v7", Height: 100})
			r.reconcile(1) // nothing reports a plan, so that nodes are looked at now and then
			r.awaitPulledAhead("full")
			if err := r.Sidecars.ReachUpgrade(r.Key("full")); err != nil {
				r.T.Fatal(err)
			}
		},
		settle:  func(r *run) { r.AwaitNode("full", upgraded) },
		objects: []object{node("full")},
	},
}

// awaitPulledAhead waits until a node's next image is on its machine and the pod that pulled it is gone. A chain that
// halts meanwhile would have the pod go unused, or never be made: whichever is quicker.
func (r *run) awaitPulledAhead(name string) {
	r.T.Helper()
	n := r.AwaitNode(name, func(n *v1alpha1.SeiNode) bool { return n.Status.PulledAhead != nil })
	envtest.WaitFor(r.T, r.Env, r.NS, render.ImagePullPodName(n), func(pod *corev1.Pod) bool { return pod == nil })
}

// upgraded is a node at rest on the image of its upgrade.
func upgraded(n *v1alpha1.SeiNode) bool {
	u := n.Status.Upgrade
	m := n.DeepCopy()
	m.Spec.Image = "seid:v7" // the image in force is that of the entry
	return settled(m) && u != nil && u.Entry == "v7" && u.State == v1alpha1.UpgradeUpToDate && u.Applied != nil && u.Applied.Name == "v7"
}
