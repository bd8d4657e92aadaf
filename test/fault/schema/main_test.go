package schema

import (
	"os"
	"testing"

	"github.com/sei-operator/sei-operator/test/envtest/world"
)

func TestMain(m *testing.M) { os.Exit(world.Main(m)) }
