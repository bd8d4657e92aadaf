package sidecar_test

import (
	"os"
	"path/filepath"
	"testing"
)

// seid takes its chain from client.toml and ends over a genesis of another one.
func TestImportedHome_WithoutClientToml_StartsAfterConfigApply(t *testing.T) {
	n := newNode(t, "imported-1", "n", "")
	ceremony([]*node{n}, nil)
	if err := os.Remove(filepath.Join(n.home, "config", "client.toml")); err != nil {
		t.Fatal(err)
	}
	n.configure("validator", nil)
	n.start()
	n.awaitHeight(2)
}
