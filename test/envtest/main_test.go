package envtest_test

import (
	"os"
	"testing"

	"github.com/sei-operator/sei-operator/test/envtest"
)

func TestMain(m *testing.M) { os.Exit(envtest.Main(m)) }
