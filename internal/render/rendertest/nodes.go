// Package rendertest holds one node of each kind for tests of what is rendered,
// and proves on a real API server that it takes what is rendered as it is.
//
// Data for tests only; nothing of the operator imports it.
package rendertest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
)

// OperatorSubject is the token subject the rendered sidecars listen to, and OperatorNamespace where
// the operator runs.
const (
	OperatorSubject   = "system:serviceaccount:sei-operator-system:sei-operator"
	OperatorNamespace = "sei-operator-system"
)

func node(name string, change func(*v1alpha1.SeiNode)) *v1alpha1.SeiNode {
	n := &v1alpha1.SeiNode{}
	n.Name, n.Namespace, n.UID = name, "sei", "11111111-2222-3333-4444-555555555555"
	n.Spec.ChainID, n.Spec.Image = "pacific-1", "example.com/seid:v6.4.0"
	change(n)
	return n
}

// FullNode belongs to a fleet and publishes snapshots.
func FullNode() *v1alpha1.SeiNode {
	return node("rpc", func(n *v1alpha1.SeiNode) {
		n.Labels = map[string]string{v1alpha1.LabelDeployment: "fleet"}
		n.Spec.PodLabels = map[string]v1alpha1.LabelValue{"team": "infra"}
		n.Spec.ExternalAddress = "p2p.example.com:26656"
		n.Spec.FullNode = &v1alpha1.FullNodeSpec{SnapshotGeneration: &v1alpha1.SnapshotGeneration{
			Tendermint: &v1alpha1.TendermintSnapshotGeneration{KeepRecent: 5, Publish: &v1alpha1.SnapshotPublish{}},
		}}
	})
}

// Archive keeps a large volume after its end.
func Archive() *v1alpha1.SeiNode {
	return node("history", func(n *v1alpha1.SeiNode) {
		n.Spec.Archive = &v1alpha1.ArchiveSpec{SnapshotGeneration: &v1alpha1.SnapshotGeneration{
			Tendermint: &v1alpha1.TendermintSnapshotGeneration{KeepRecent: 2},
		}}
		n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{
			Size: new(resource.MustParse("40Ti")), StorageClassName: new("slow"), DeletionPolicy: v1alpha1.VolumeRetain,
		}
	})
}

// Replayer bootstraps on an imported volume.
func Replayer() *v1alpha1.SeiNode {
	return node("replay", func(n *v1alpha1.SeiNode) {
		n.Spec.Peers = []v1alpha1.PeerSource{{Static: &v1alpha1.StaticPeers{
			Addresses: []v1alpha1.PeerAddress{"0123456789abcdef0123456789abcdef01234567@peer.example.com:26656"},
		}}}
		n.Spec.Replayer = &v1alpha1.ReplayerSpec{Snapshot: v1alpha1.SnapshotSource{
			S3: &v1alpha1.S3Snapshot{TargetHeight: 123456789}, BootstrapImage: "example.com/seid:v6.3.0",
		}}
		n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: "old-data"}}
	})
}

// Validator brings all keys it can bring.
func Validator() *v1alpha1.SeiNode {
	return node("val", func(n *v1alpha1.SeiNode) {
		n.Spec.Validator = &v1alpha1.ValidatorSpec{
			Snapshot: &v1alpha1.SnapshotSource{
				S3: &v1alpha1.S3Snapshot{TargetHeight: 1000}, BootstrapImage: "example.com/seid:v6.3.0",
			},
			SigningKey: &v1alpha1.SigningKeySource{Secret: v1alpha1.KeySecret{SecretName: "val-signing"}},
			NodeKey:    &v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "val-identity"}},
			OperatorKeyring: &v1alpha1.OperatorKeyringSource{Secret: &v1alpha1.OperatorKeyringSecret{
				SecretName:          "val-keyring",
				PassphraseSecretRef: v1alpha1.SecretKeyRef{SecretName: "val-passphrase", Key: "passphrase"},
			}},
		}
	})
}

// CeremonyValidator makes its keys in the pod.
func CeremonyValidator() *v1alpha1.SeiNode {
	return node("genesis-0", func(n *v1alpha1.SeiNode) {
		n.Spec.Validator = &v1alpha1.ValidatorSpec{GenesisCeremony: &v1alpha1.GenesisCeremonyMember{
			ChainID: "pacific-1", StakingAmount: "1usei", AccountBalance: "2usei",
		}}
	})
}

// Seed is a seed with its identity.
func Seed() *v1alpha1.SeiNode {
	return node("seed", func(n *v1alpha1.SeiNode) {
		n.Spec.Seed = &v1alpha1.SeedSpec{NodeKey: v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "seed-identity"}}}
	})
}

// EveryNode is one node of each kind, by the name of its golden file.
func EveryNode() map[string]*v1alpha1.SeiNode {
	return map[string]*v1alpha1.SeiNode{
		"fullnode": FullNode(), "archive": Archive(), "replayer": Replayer(),
		"validator": Validator(), "validator-ceremony": CeremonyValidator(), "seed": Seed(),
	}
}

// Input is a node on a platform with buckets and otherwise defaults.
func Input(n *v1alpha1.SeiNode) render.Input {
	cfg := platform.Default()
	cfg.Buckets = platform.Buckets{Snapshot: "s3://snapshots?region=eu-central-1", Genesis: "gs://genesis"}
	return render.Input{Node: n, Platform: cfg, SidecarSubjects: []string{OperatorSubject}, OperatorNamespace: OperatorNamespace}
}

// Resources is a list of names and quantities in turn.
func Resources(namesAndQuantities ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for pair := range slices.Chunk(namesAndQuantities, 2) {
		list[corev1.ResourceName(pair[0])] = resource.MustParse(pair[1])
	}
	return list
}
