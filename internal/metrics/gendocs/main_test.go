package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/metrics"
)

func TestDocs_AreWhatTheCodeDeclares(t *testing.T) {
	have, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page(metrics.Declarations()), string(have)); diff != "" {
		t.Errorf("docs/reference/metrics.md is out of date; run: go run ./internal/metrics/gendocs\n(-want +got):\n%s", diff)
	}
}
