package e2e

import (
	"sync"
	"testing"
)

// shared is the chain that scenarios join. It lives as long as the cluster.
var shared struct {
	sync.Mutex
	scenario *scenario
}

// followers are peers beside the validator. seid with a single peer never leaves block sync, where it uses up a core
// once it has all blocks: with some such nodes at once there is little left for whatever is tested.
var followers = []string{"follower-a", "follower-b"}

// sharedChain brings the chain up for the first who asks. Its blocks are what proves that a node keeps up.
func sharedChain(t *testing.T) *scenario {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.scenario != nil {
		return shared.scenario
	}
	s := &scenario{cluster: theCluster, t: t, namespace: "e2e-chain"}
	s.createNamespace()
	s.makeChain("shared-1")
	s.create(s.validator("validator"))
	s.awaitInSync("validator")
	s.awaitHeight("validator", 1)
	for _, name := range followers {
		s.create(s.fullNode(name))
	}
	for _, name := range followers {
		s.awaitInSync(name)
	}
	shared.scenario = s
	return s
}
