package sidecar_test

import (
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/wire"
)

func TestOneValidator_WithoutABucket_MakesBlocksAndObeys(t *testing.T) {
	v := newNode(t, "one-1", "v0", "")
	ceremony([]*node{v}, nil)
	v.start()
	v.awaitHeight(5)

	first := <-v.pod.starts
	restarted := do[wire.Restarted](v, api.RestartSeid, nil)
	if second := <-v.pod.starts; !restarted.RPCServing || second == first {
		t.Errorf("restart gave %+v, process %d then %d", restarted, first, second)
	}
	v.awaitHeight(v.height() + 2)
}
