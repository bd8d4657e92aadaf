package supervise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/iproute"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

// InnerLink is the node's end of the link to the machine.
const InnerLink = "machine"

// MountPoints are folders with fixed names that components insist on. Each is covered by a folder of the state
// folder. The outside makes those that do not exist, and takes away those it made.
var MountPoints = map[string]string{
	"/var/lib/kubelet":    "kubelet",
	"/var/lib/cni":        "cni",
	"/var/log/containers": "log/containers",
}

// kernelSettings are what the kubelet demands of the kernel and would otherwise change for the whole machine.
// It is shown files that already hold these values.
var kernelSettings = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// furnishMounts detaches from the machine's mounts and puts the node's own over them.
func furnishMounts(l layout.Layout) error {
	// Private first, so nothing travels back to the machine; then shared among ourselves, as the kubelet wants it.
	for _, propagation := range []uintptr{unix.MS_PRIVATE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", unix.MS_REC|propagation, ""); err != nil {
			return fmt.Errorf("detaching the mounts: %w", err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mounting /run: %w", err)
	}
	for target, source := range MountPoints {
		if err := bind(l.Path(source), target); err != nil {
			return err
		}
	}
	return showKernelSettings("/run/kernel-settings")
}

func bind(source, target string) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mounting %s over %s: %w", source, target, err)
	}
	return nil
}

func showKernelSettings(dir string) error {
	for name, value := range kernelSettings {
		target := filepath.Join("/proc/sys", name)
		if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
			continue // a kernel built without it
		}
		source := filepath.Join(dir, strings.ReplaceAll(name, "/", "."))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making %s: %w", dir, err)
		}
		if err := os.WriteFile(source, []byte(value+"\n"), 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", source, err)
		}
		if err := bind(source, target); err != nil {
			return err
		}
	}
	return nil
}

// furnishNetwork gives the node its address. There is no default route: nothing leaves the machine. Service
// addresses need a route all the same, because they are translated only after a route was found.
func furnishNetwork(ctx context.Context, l layout.Layout) error {
	err := iproute.Run(ctx,
		"link set lo up",
		fmt.Sprintf("addr add %s/%d dev %s", l.NodeIP(), l.Link().Bits(), InnerLink),
		"link set "+InnerLink+" up",
		fmt.Sprintf("route add %s dev %s", l.Services(), InnerLink),
	)
	if err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600); err != nil {
		return fmt.Errorf("forwarding between pods: %w", err)
	}
	return nil
}
