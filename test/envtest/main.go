package envtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is the control plane of the package under test.
var shared struct {
	sync.Mutex
	inMain bool
	opts   []Option
	env    *Env
	failed bool
}

// Main runs a package's tests and ends the control plane they shared. The
// control plane starts when the first test asks for it, so that a run of tests
// that need none stays quick. Call it from TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(envtest.Main(m)) }
func Main(m *testing.M, opts ...Option) int {
	shared.Lock()
	shared.inMain, shared.opts = true, opts
	shared.Unlock()
	defer func() {
		shared.Lock()
		defer shared.Unlock()
		if shared.env != nil {
			shared.env.Stop()
		}
	}()
	code := m.Run()
	if folder := os.Getenv(UsesVariable); folder != "" {
		if err := writeUses(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return max(code, 1)
		}
	}
	return code
}

// Shared is the package's control plane; the first call starts it.
func Shared(tb testing.TB) *Env {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if !shared.inMain {
		tb.Fatal("envtest.Shared needs: func TestMain(m *testing.M) { os.Exit(envtest.Main(m)) }")
	}
	if shared.failed {
		tb.Fatal("the control plane did not start; the first test that needed it says why")
	}
	if shared.env == nil {
		// Not the test's context: the control plane outlives the test that asks first.
		env, err := Start(context.Background(), shared.opts...)
		if err != nil {
			shared.failed = true
			tb.Fatal(err)
		}
		shared.env = env
	}
	return shared.env
}
