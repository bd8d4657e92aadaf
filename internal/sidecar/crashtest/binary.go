package crashtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// BinaryEnv names a sidecar binary to use instead of building one. The storage program is
// looked for beside it.
const BinaryEnv = "SEI_SIDECAR_BINARY"

var build = sync.OnceValues(buildBinary)

// Binary is the path of a sidecar binary built from the sources at hand, the way
// it is shipped: without cgo.
func Binary(tb testing.TB) string {
	tb.Helper()
	if path := os.Getenv(BinaryEnv); path != "" {
		return path
	}
	path, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func buildBinary() (string, error) {
	gomod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(gomod)))
	path := filepath.Join(root, ".cache", "crashtest", "sidecar")
	unlock, err := lock(path + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	cmd := exec.Command("go", "build", "-o", filepath.Dir(path), "./cmd/sidecar", "./cmd/sidecar-storage")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the sidecar: %w\n%s", err, out)
	}
	return path, nil
}

// lock keeps test binaries that run side by side from building at once.
func lock(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("making the build directory: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the build lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("taking the build lock: %w", err)
	}
	return func() { _ = f.Close() }, nil
}
