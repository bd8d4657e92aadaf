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
	shared.scenario = s
	return s
}
