package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// compile builds a program. Nothing of the machine gets into it: no path, no time, no C library. sidecarImage is linked
// into a program that has a use for it.
func (r *release) compile(ctx context.Context, program string, on platform, sidecarImage, output string) error {
	flags := "-s -w -buildid= -X main.version=" + r.Version + " -X main.commit=" + r.Commit
	if sidecarImage != "" {
		flags += " -X " + module + "/internal/platform.DefaultSidecarImage=" + sidecarImage
	}
	_, err := goTool(ctx, r.Source, on, "build", "-mod=readonly", "-trimpath", "-buildvcs=false",
		"-ldflags", flags, "-o", output, "./cmd/"+program)
	if err != nil {
		return fmt.Errorf("compiling %s for %s: %w", program, on, err)
	}
	return nil
}

// goTool runs the Continue the PATH for a platform, without settings of the one who runs it.
func goTool(ctx context.Context, dir string, on platform, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // arguments from above
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+on.os, "GOARCH="+on.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOWORK=off", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
