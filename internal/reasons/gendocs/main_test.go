package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocs_AreWhatThePackageSays(t *testing.T) {
	want, err := page()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "reasons.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(have)); diff != "" {
		t.Errorf("docs/reference/reasons.md is out of date; run: go run ./internal/reasons/gendocs\n(-want +got):\n%s", diff)
	}
}
