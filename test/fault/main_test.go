package fault

import (
	"os"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// TestMain gives a run more time than other tests have: a disturbance may lead to a pause before the
// next attempt, and many worlds share a machine.
func TestMain(m *testing.M) {
	if os.Getenv("ENVTEST_WAIT") == "" {
		envtest.WaitTimeout = 3 * time.Minute
	}
	os.Exit(world.Main(m, envtest.WithKeptNamespaces()))
}
