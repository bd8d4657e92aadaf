package render_test

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
)

const operatorSubject = "system:serviceaccount:sei-operator-system:sei-operator"

func node(name string, change func(*v1alpha1.SeiNode)) *v1alpha1.SeiNode {
	n := &v1alpha1.SeiNode{}
	n.Name, n.Namespace, n.UID = name, "sei", "11111111-2222-3333-4444-555555555555"
	n.Spec.ChainID, n.Spec.Image = "pacific-1", "example.com/seid:v6.4.0"
	change(n)
	return n
}

func fullNode() *v1alpha1.SeiNode {
	return node("rpc", func(n *v1alpha1.SeiNode) {
		n.Labels = map[string]string{v1alpha1.LabelDeployment: "fleet"}
		n.Spec.PodLabels = map[string]string{"team": "infra", v1alpha1.LabelRole: "mine"}
		n.Spec.ExternalAddress = "p2p.example.com:26656"
		n.Spec.FullNode = &v1alpha1.FullNodeSpec{SnapshotGeneration: &v1alpha1.SnapshotGeneration{
			Tendermint: &v1alpha1.TendermintSnapshotGeneration{KeepRecent: 5, Publish: &v1alpha1.SnapshotPublish{}},
		}}
	})
}

func archive() *v1alpha1.SeiNode {
	return node("history", func(n *v1alpha1.SeiNode) {
		n.Spec.Archive = &v1alpha1.ArchiveSpec{SnapshotGeneration: &v1alpha1.SnapshotGeneration{
			Tendermint: &v1alpha1.TendermintSnapshotGeneration{KeepRecent: 2},
		}}
		n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{
			Size: new(resource.MustParse("40Ti")), StorageClassName: new("slow"), DeletionPolicy: v1alpha1.VolumeRetain,
		}
	})
}

func replayer() *v1alpha1.SeiNode {
	return node("replay", func(n *v1alpha1.SeiNode) {
		n.Spec.Replayer = &v1alpha1.ReplayerSpec{Snapshot: v1alpha1.SnapshotSource{
			S3: &v1alpha1.S3Snapshot{TargetHeight: 123456789}, BootstrapImage: "example.com/seid:v6.3.0",
		}}
		n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: "old-data"}}
	})
}

// validator brings all keys it can bring.
func validator() *v1alpha1.SeiNode {
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

// ceremonyValidator makes its keys in the pod.
func ceremonyValidator() *v1alpha1.SeiNode {
	return node("genesis-0", func(n *v1alpha1.SeiNode) {
		n.Spec.Validator = &v1alpha1.ValidatorSpec{GenesisCeremony: &v1alpha1.GenesisCeremonyMember{
			ChainID: "pacific-1", StakingAmount: "1usei", AccountBalance: "2usei",
		}}
	})
}

func seed() *v1alpha1.SeiNode {
	return node("seed", func(n *v1alpha1.SeiNode) {
		n.Spec.Seed = &v1alpha1.SeedSpec{NodeKey: v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "seed-identity"}}}
	})
}

// everyNode is one node of each kind, by the name of its golden file.
func everyNode() map[string]*v1alpha1.SeiNode {
	return map[string]*v1alpha1.SeiNode{
		"fullnode": fullNode(), "archive": archive(), "replayer": replayer(),
		"validator": validator(), "validator-ceremony": ceremonyValidator(), "seed": seed(),
	}
}

func input(n *v1alpha1.SeiNode) render.Input {
	cfg := platform.Default()
	cfg.Buckets = platform.Buckets{Snapshot: "s3://snapshots?region=eu-central-1", Genesis: "gs://genesis"}
	return render.Input{Node: n, Platform: cfg, SidecarSubjects: []string{operatorSubject}}
}

// statefulSet renders as the API server would see it.
func statefulSet(t *testing.T, in render.Input) *appsv1.StatefulSet {
	t.Helper()
	ac, err := render.StatefulSet(in)
	if err != nil {
		t.Fatalf("rendering statefulset: %v", err)
	}
	return typed[appsv1.StatefulSet](t, ac)
}

func podSpec(t *testing.T, in render.Input) corev1.PodSpec {
	t.Helper()
	return statefulSet(t, in).Spec.Template.Spec
}

func job(t *testing.T, in render.Input) *batchv1.Job {
	t.Helper()
	ac, err := render.BootstrapJob(in)
	if err != nil {
		t.Fatalf("rendering job: %v", err)
	}
	return typed[batchv1.Job](t, ac)
}

func typed[T any](t *testing.T, applyConfiguration any) *T {
	t.Helper()
	raw, err := json.Marshal(applyConfiguration)
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	out := new(T)
	if err := json.Unmarshal(raw, out); err != nil {
		t.Fatalf("decoding: %v", err)
	}
	return out
}

func containers(spec corev1.PodSpec) map[string]corev1.Container {
	all := map[string]corev1.Container{}
	for _, c := range append(append([]corev1.Container{}, spec.InitContainers...), spec.Containers...) {
		all[c.Name] = c
	}
	return all
}
