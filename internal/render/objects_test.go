package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

func TestService_IsHeadlessAndPublishesNodesThatAreNotReady(t *testing.T) {
	wantPorts := map[string][]string{
		"fullnode":           {"evm-rpc", "evm-ws", "grpc", "rest", "p2p", "rpc", "metrics", "sidecar"},
		"archive":            {"evm-rpc", "evm-ws", "grpc", "rest", "p2p", "rpc", "metrics", "sidecar"},
		"replayer":           {"evm-rpc", "evm-ws", "grpc", "rest", "p2p", "rpc", "metrics", "sidecar"},
		"validator":          {"p2p", "metrics", "sidecar"},
		"validator-ceremony": {"p2p", "metrics", "sidecar"},
		"seed":               {"p2p", "metrics", "sidecar"},
	}
	for name, n := range everyNode() {
		svc := typed[corev1.Service](t, render.Service(input(n)))
		if svc.Spec.ClusterIP != "None" || !svc.Spec.PublishNotReadyAddresses || svc.Name != n.Name {
			t.Errorf("%s: %+v, want ClusterIP %q, PublishNotReadyAddresses true and Name %v", name, svc.Spec, "None", n.Name)
		}
		if diff := cmp.Diff(map[string]string{v1alpha1.LabelNode: n.Name}, svc.Spec.Selector); diff != "" {
			t.Errorf("%s: selector (-want +got):\n%s", name, diff)
		}
		var got []string
		for _, p := range svc.Spec.Ports {
			got = append(got, p.Name)
			if p.Name == "grpc" && (p.AppProtocol == nil || *p.AppProtocol != "kubernetes.io/h2c") {
				t.Errorf("%s: grpc without its protocol", name)
			}
		}
		if diff := cmp.Diff(wantPorts[name], got); diff != "" {
			t.Errorf("%s: ports (-want +got):\n%s", name, diff)
		}
	}
}

func TestDataClaim_SizeClassAndNoOwner(t *testing.T) {
	volume := func(v v1alpha1.DataVolumeSpec) *v1alpha1.SeiNode {
		n := fullNode()
		n.Spec.DataVolume = &v
		return n
	}
	size, class := quantity("7Gi"), "fast"
	tests := map[string]struct {
		node  *v1alpha1.SeiNode
		size  string
		class *string
	}{
		"defaults":      {node: fullNode(), size: "50Gi"},
		"own size":      {node: volume(v1alpha1.DataVolumeSpec{Size: &size}), size: "7Gi"},
		"own class":     {node: volume(v1alpha1.DataVolumeSpec{StorageClassName: &class}), size: "50Gi", class: &class},
		"no class":      {node: volume(v1alpha1.DataVolumeSpec{StorageClassName: new("")}), size: "50Gi", class: new("")},
		"policy Retain": {node: volume(v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeRetain}), size: "50Gi"},
		"policy Delete": {node: volume(v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeDelete}), size: "50Gi"},
	}
	for name, tt := range tests {
		claim := typed[corev1.PersistentVolumeClaim](t, render.DataClaim(input(tt.node)))
		request := claim.Spec.Resources.Requests[corev1.ResourceStorage]
		if request.String() != tt.size || claim.Name != "data-rpc" || claim.Spec.AccessModes[0] != corev1.ReadWriteOnce {
			t.Errorf("%s: %s of %s", name, claim.Name, request.String())
		}
		if diff := cmp.Diff(tt.class, claim.Spec.StorageClassName); diff != "" {
			t.Errorf("%s: class (-want +got):\n%s", name, diff)
		}
		if len(claim.OwnerReferences) > 0 {
			t.Errorf("%s: owners %v: the garbage collector could take the claim", name, claim.OwnerReferences)
		}
	}
}

func TestDataClaim_ChangedPolicy_IsSeenAsADifference(t *testing.T) {
	live := typed[corev1.PersistentVolumeClaim](t, render.DataClaim(input(fullNode())))
	n := fullNode()
	n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeRetain}
	if ok, _ := render.Covers(render.DataClaim(input(n)), live); ok {
		t.Error("the owner reference of a claim that is to be retained would stay, and the claim be collected")
	}
}

func TestDataClaim_Import_IsNeverRendered(t *testing.T) {
	n := replayer()
	if claim := render.DataClaim(input(n)); claim != nil {
		t.Errorf("got %v, want nil", claim)
	}
	if render.ClaimName(n) != "old-data" || render.DeletionPolicy(n) != v1alpha1.VolumeRetain {
		t.Errorf("claim %s, policy %s", render.ClaimName(n), render.DeletionPolicy(n))
	}
}

func TestDataClaim_PlatformStorage_PerMode(t *testing.T) {
	in := input(seed())
	in.Platform.Storage.Default.ClassName = new("standard")
	in.Platform.Storage.Seed = &in.Platform.Storage.Default
	small := in.Platform.Storage.Default
	small.Size, small.ClassName = new(quantity("1Gi")), nil
	in.Platform.Storage.Seed = &small
	claim := typed[corev1.PersistentVolumeClaim](t, render.DataClaim(in))
	request := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if request.String() != "1Gi" || *claim.Spec.StorageClassName != "standard" {
		t.Errorf("got %s of %s", request.String(), *claim.Spec.StorageClassName)
	}
}

func TestNames(t *testing.T) {
	n := fullNode()
	got := []string{render.PodName(n), render.ClaimName(n), render.BootstrapJobName(n), render.P2PHost(n, "cluster.local")}
	want := []string{"rpc-0", "data-rpc", "rpc-bootstrap", "rpc-0.rpc.sei.svc.cluster.local"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestEndpoint_PerMode(t *testing.T) {
	want := v1alpha1.NodeEndpoint{
		TendermintRPC: "http://rpc.sei.svc:26657", TendermintREST: "http://rpc.sei.svc:1317",
		EVMJSONRPC: "http://rpc.sei.svc:8545", EVMWS: "ws://rpc.sei.svc:8546", P2P: "rpc-0.rpc.sei.svc.example:26656",
	}
	if diff := cmp.Diff(want, render.Endpoint(fullNode(), "example")); diff != "" {
		t.Errorf("full node (-want +got):\n%s", diff)
	}
	for _, n := range []*v1alpha1.SeiNode{validator(), seed()} {
		want := v1alpha1.NodeEndpoint{P2P: n.Name + "-0." + n.Name + ".sei.svc.cluster.local:26656"}
		if diff := cmp.Diff(want, render.Endpoint(n, "cluster.local")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", n.Name, diff)
		}
	}
}

// The note of a scaling down counts for a node that goes, and not for one that stays.
func TestDeletionPolicy_ScaledDownAndDeleted_AreToldApart(t *testing.T) {
	const keep, del = v1alpha1.VolumeRetain, v1alpha1.VolumeDelete
	for name, c := range map[string]struct {
		noted, going bool
		want         v1alpha1.VolumeDeletionPolicy
	}{
		"stays":                   {false, false, keep},
		"deleted":                 {false, true, keep},
		"scaled down":             {true, true, del},
		"noted, and has not gone": {true, false, keep},
	} {
		n := fullNode()
		n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Retention: &v1alpha1.VolumeRetention{WhenDeleted: keep, WhenScaled: del}}
		if c.noted {
			metav1.SetMetaDataAnnotation(&n.ObjectMeta, v1alpha1.AnnotationScaledDown, "true")
		}
		if c.going {
			n.DeletionTimestamp = new(metav1.Now())
		}
		if got := render.DeletionPolicy(n); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
