package node

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTemplates_RenderedOncePerVersionOfTheNode(t *testing.T) {
	var m templates
	node, renders := newFullNode(), 0
	render := func() template {
		renders++
		return template{hash: node.ResourceVersion}
	}
	for _, c := range []struct {
		change func()
		want   int
	}{
		{func() { node.ResourceVersion = "1" }, 1},
		{func() {}, 1},
		{func() { node.ResourceVersion = "2" }, 2},
		{func() { node.UID = "another" }, 3},
		{func() { m.forget(client.ObjectKeyFromObject(node)) }, 4},
		{func() {}, 4},
	} {
		c.change()
		if got := m.of(node, render); got.hash != node.ResourceVersion || renders != c.want {
			t.Errorf("version %s: %+v after %d renders, want %d", node.ResourceVersion, got, renders, c.want)
		}
	}
}
