package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// profileVariable tells a manager that was built with a profiler where to serve it.
const profileVariable = "BENCH_PROFILE_ADDRESS"

// profilerSource is the file that is laid over the manager's source.
//
//go:embed profiler.go.txt
var profilerSource []byte

// writeOverlay writes what `go build -overlay` wants.
func writeOverlay(root, dir string) (string, error) {
	source, overlay := filepath.Join(dir, "profiler.go"), filepath.Join(dir, "overlay.json")
	content, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(root, "cmd", "manager", "zz_profiler.go"): source},
	})
	if err != nil {
		return "", fmt.Errorf("encoding the overlay: %w", err)
	}
	for path, content := range map[string][]byte{source: profilerSource, overlay: content} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return "", fmt.Errorf("writing the profiler: %w", err)
		}
	}
	return overlay, nil
}

// profileDuring takes a CPU profile of a span of time in the background and a heap
// profile at its end. The returned function waits for both.
func (o *operator) profileDuring(ctx context.Context, s *settings, name string, span time.Duration) (wait func()) {
	if s.profileDir == "" {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, p := range []struct{ file, url string }{
			{name + ".cpu", fmt.Sprintf("/debug/pprof/profile?seconds=%d", int(span.Seconds()))},
			{name + ".heap", "/debug/pprof/heap?gc=1"},
		} {
			if err := o.saveProfile(ctx, filepath.Join(s.profileDir, p.file), p.url); err != nil {
				complainf("profiling: %v", err)
			}
		}
	}()
	return func() { <-done }
}

func (o *operator) saveProfile(ctx context.Context, path, url string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("making a file: %w", err)
	}
	if err := fetch(ctx, "http://"+o.profile+url, file); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
