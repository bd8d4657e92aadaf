package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
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

// profileDuring takes CPU profiles of the operator and of the API server over a span
// of time in the background, and a heap profile of the operator at its end. The
// returned function waits for all.
func (b *bench) profileDuring(ctx context.Context, step string, span time.Duration) (wait func()) {
	if b.s.profileDir == "" {
		return func() {}
	}
	file := func(kind string) string {
		return filepath.Join(b.s.profileDir, fmt.Sprintf("%s-%d.%s", step, b.run.Nodes, kind))
	}
	cpu := fmt.Sprintf("/debug/pprof/profile?seconds=%d", int(span.Seconds()))
	operator := b.operator
	var all sync.WaitGroup
	all.Go(func() {
		complain(operator.saveProfile(ctx, file("cpu"), cpu))
		complain(operator.saveProfile(ctx, file("heap"), "/debug/pprof/heap?gc=1"))
	})
	all.Go(func() { complain(b.saveServerProfile(ctx, file("apiserver.cpu"), cpu)) })
	return all.Wait
}

func complain(err error) {
	if err != nil {
		complainf("profiling: %v", err)
	}
}

func (o *operator) saveProfile(ctx context.Context, path, url string) error {
	var profile bytes.Buffer
	if err := fetch(ctx, "http://"+o.profile+url, &profile); err != nil {
		return err
	}
	return keepProfile(path, profile.Bytes())
}

// saveServerProfile asks the API server, which takes most of the cores, for what.
func (w *world) saveServerProfile(ctx context.Context, path, uri string) error {
	clients, err := kubernetes.NewForConfig(w.Config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	profile, err := clients.RESTClient().Get().RequestURI(uri).DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("asking the API server for a profile: %w", err)
	}
	return keepProfile(path, profile)
}

func keepProfile(path string, profile []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if err := os.WriteFile(path, profile, 0o600); err != nil {
		return fmt.Errorf("keeping a profile: %w", err)
	}
	return nil
}
