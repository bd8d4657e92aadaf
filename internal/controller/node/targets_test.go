package node

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
)

func TestTargets_RenderedOncePerSpecMetadataRetryPeersAndImage(t *testing.T) {
	var m targets
	node, peers, image, renders := newFullNode(), []string{"a@x"}, "seid:v6", 0
	wanted := func() string {
		return fmt.Sprint(node.Generation, node.Labels, node.Status.RetriedFor, node.Status.RetriedForFleet, peers, image)
	}
	render := func() domain.Target {
		renders++
		return domain.Target{What: wanted()}
	}
	for _, c := range []struct {
		change func()
		want   int
	}{
		{func() { node.Generation = 1 }, 1},
		{func() {}, 1},
		{func() { node.ResourceVersion, node.Status.Phase = "2", v1alpha1.NodeRunning }, 1},
		{func() { node.Generation = 2 }, 2},
		{func() { node.UID = "another" }, 3},
		{func() { peers[0] = "b@y" }, 4},
		{func() {}, 4},
		{func() { image = "seid:v7" }, 5},
		{func() {}, 5},
		{func() { node.Labels = map[string]string{"team": "rpc"} }, 6},
		{func() { node.Status.RetriedFor = "1" }, 7},
		{func() { node.Status.RetriedForFleet = "1" }, 8},
		{func() { m.forget(client.ObjectKeyFromObject(node)) }, 9},
		{func() {}, 9},
	} {
		c.change()
		if got := m.of(node, peers, image, render); got.What != wanted() || renders != c.want {
			t.Errorf("target %s after %d renders, want %s after %d", got.What, renders, wanted(), c.want)
		}
	}
}
