package configstate_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
)

// BenchmarkRead is what each look at a node costs: the node document is asked for every few
// seconds.
func BenchmarkRead(b *testing.B) {
	home := b.TempDir()
	files, err := config.Read(filepath.Join("..", "..", "seid", "config", "testdata", "init-full"))
	if err != nil {
		b.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, "config"), 0o750); err != nil {
		b.Fatal(err)
	}
	if err := configstate.Write(home, files, "one"); err != nil {
		b.Fatal(err)
	}
	if err := configstate.Started(home); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := configstate.Read(home); err != nil {
			b.Fatal(err)
		}
		if _, err := configstate.RestartDue(home, true); err != nil {
			b.Fatal(err)
		}
	}
}
