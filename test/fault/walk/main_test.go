package walk

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// TestMain sets how rapid works here, unless the command line says otherwise: every walk is a check of
// its own, its text is what it is replayed by, and shrinking has the time for some dozens of walks.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.checks": "1", "rapid.nofailfile": "true", "rapid.shrinktime": "15m"} {
		if err := flag.Set(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	if os.Getenv("ENVTEST_WAIT") == "" {
		envtest.WaitTimeout = 3 * time.Minute
	}
	os.Exit(world.Main(m))
}
