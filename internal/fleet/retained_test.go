package fleet_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

func TestIsRetained_OnlyOrphansBeyondReplicas(t *testing.T) {
	snd := rpcFleet() // three replicas
	node := func(name, label string, owners ...metav1.OwnerReference) *v1alpha1.SeiNode {
		return &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1alpha1.LabelDeployment: label}, OwnerReferences: owners}}
	}
	ours := *fleet.OwnerReference(snd)
	for name, tc := range map[string]struct {
		node *v1alpha1.SeiNode
		want bool
	}{
		"beyond replicas, of nobody":       {node("rpc-3", "rpc"), true},
		"beyond replicas, ours":            {node("rpc-3", "rpc", ours), false},
		"within replicas":                  {node("rpc-2", "rpc"), false},
		"another fleet's name":             {node("web-3", "rpc"), false},
		"another fleet's label":            {node("rpc-3", "web"), false},
		"put there by somebody on purpose": {node("canary", "rpc"), false},
	} {
		if got := fleet.IsRetained(snd, tc.node); got != tc.want {
			t.Errorf("%s: %t, want %v", name, got, tc.want)
		}
	}
}
