package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocs_AreWhatTheSourceSays(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	want, err := page(root)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(root, output))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(have)); diff != "" {
		t.Errorf("%s is out of date; run: go run ./internal/messages/gendocs\n(-want +got):\n%s", output, diff)
	}
}
