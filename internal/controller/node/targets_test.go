package node

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	domain "github.com/sei-operator/sei-operator/internal/node"
)

func TestTargets_RenderedOncePerVersionOfTheNodeItsPeersAndItsImage(t *testing.T) {
	var m targets
	node, peers, image, renders := newFullNode(), []string{"a@x"}, "seid:v6", 0
	render := func() domain.Target {
		renders++
		return domain.Target{What: node.ResourceVersion + peers[0] + image}
	}
	for _, c := range []struct {
		change func()
		want   int
	}{
		{func() { node.ResourceVersion = "1" }, 1},
		{func() {}, 1},
		{func() { node.ResourceVersion = "2" }, 2},
		{func() { node.UID = "another" }, 3},
		{func() { peers[0] = "b@y" }, 4},
		{func() {}, 4},
		{func() { image = "seid:v7" }, 5},
		{func() {}, 5},
		{func() { m.forget(client.ObjectKeyFromObject(node)) }, 6},
		{func() {}, 6},
	} {
		c.change()
		if got := m.of(node, peers, image, render); got.What != node.ResourceVersion+peers[0]+image || renders != c.want {
			t.Errorf("%+v after %d renders, want version %s, peers %v, %d renders", got, renders, node.ResourceVersion, peers, c.want)
		}
	}
}
