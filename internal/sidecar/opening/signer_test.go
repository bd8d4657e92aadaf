package opening_test

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/opening"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// S1: nothing is left on the volume that a node which signs could be started on without an operator.
func TestPermit_NodeThatSigns_LeavesNothing(t *testing.T) {
	for address, want := range map[string]bool{"": true, "0A0B": false} {
		home := t.TempDir()
		c := &opening.Conditions{Home: home, TemplateHash: "t", Clock: clocktesting.NewFakeClock(time.Now())}
		p := wire.MarkReady{Expect: &wire.Expectation{ConfigHash: "c", ConsensusAddress: address}, Permission: "24h"}
		if err := c.Permit(p, api.Opening{ConfigHash: "c", ConsensusAddress: address}); err != nil {
			t.Fatal(err)
		}
		if there, err := durable.Exists(supervision.Path(home, "permission.json")); err != nil || there != want {
			t.Errorf("address %q: a permission is there: %t, %v", address, there, err)
		}
	}
}
