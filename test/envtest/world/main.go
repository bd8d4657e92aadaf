package world

import (
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// Main runs the tests of a package whose operators log nothing. Call it from TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(world.Main(m)) }
func Main(m *testing.M, opts ...envtest.Option) int {
	ctrl.SetLogger(logr.Discard())
	return envtest.Main(m, opts...)
}
