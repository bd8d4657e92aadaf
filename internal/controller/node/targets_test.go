package node

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	domain "github.com/sei-operator/sei-operator/internal/node"
)

func TestTargets_RenderedOncePerVersionOfTheNodeAndItsPeers(t *testing.T) {
	var m targets
	node, peers, renders := newFullNode(), []string{"a@x"}, 0
	render := func() domain.Target {
		renders++
		return domain.Target{What: node.ResourceVersion + peers[0]}
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
		{func() { m.forget(client.ObjectKeyFromObject(node)) }, 5},
		{func() {}, 5},
	} {
		c.change()
		if got := m.of(node, peers, render); got.What != node.ResourceVersion+peers[0] || renders != c.want {
			t.Errorf("%+v after %d renders, want version %s, peers %v, %d renders", got, renders, node.ResourceVersion, peers, c.want)
		}
	}
}
