package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Images of programs that only these tests have.
const (
	imagePoller  = "localhost/sei-operator/e2e-poller:dev"
	imageCrasher = "localhost/sei-operator/e2e-crasher:dev"
	imageProber  = "localhost/sei-operator/e2e-prober:dev"
	// imageSnoop is the sidecar's image with the snoop in place of its second program.
	imageSnoop = "localhost/sei-operator/e2e-snoop:dev"
	// imagePause is what the cluster itself runs in every pod: it waits to be ended.
	imagePause = "localhost/pause:local"
)

// testImages builds the programs of this folder into images and returns the tarballs.
func (c *cluster) testImages(ctx context.Context) ([]string, error) {
	dir := filepath.Join(c.root, ".cache", "images", "e2e")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("making a folder for images: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", dir+"/",
		"./poller", "./crasher", "./snoop", "../security/prober")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling the tests' programs: %w: %s", err, out)
	}
	var tarballs []string
	for _, image := range []struct {
		program, tag, target string
		more                 []string
	}{
		{"poller", imagePoller, "/poller", nil},
		{"crasher", imageCrasher, "/sidecar", nil},
		{"prober", imageProber, "/prober", nil},
		{"snoop", imageSnoop, "/sidecar-storage", []string{"--file=" + filepath.Join(filepath.Dir(dir), "bin", "sidecar") + ":/sidecar:0755"}},
	} {
		tarball := filepath.Join(dir, image.program+".tar")
		args := append([]string{
			"build-image", "--tag=" + image.tag, "--output=" + tarball,
			"--file=" + filepath.Join(dir, image.program) + ":" + image.target + ":0755", "--entrypoint=" + image.target,
		}, image.more...)
		pack := exec.CommandContext(ctx, filepath.Join(c.bin, "cluster"), args...)
		if out, err := pack.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building the image of %s: %w: %s", image.program, err, out)
		}
		tarballs = append(tarballs, tarball)
	}
	return tarballs, nil
}
