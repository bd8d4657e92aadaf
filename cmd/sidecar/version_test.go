package main

import (
	"os"
	"path/filepath"
	"testing"
)

// After a failure the binary is run again; once it has reported its version it is not.
func TestSeidVersion_AfterAFailure_AsksAgainUntilThereIsAnAnswer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seid")
	version := seidVersion(path)
	if got, err := version(t.Context()); err == nil {
		t.Fatalf("version %q of a binary that is not there", got)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho v6.1.0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := version(t.Context()); err != nil || got != "v6.1.0" {
			t.Fatalf("version %q, %v; want v6.1.0", got, err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}
