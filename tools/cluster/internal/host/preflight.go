// Package host is the machine's side of a local cluster: it checks what the machine must have, starts the node in
// namespaces of its own, and takes away the little that outlives them. What continues inside the node is not its
// business.
package host

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

// elsewhere ends every message about a machine that cannot run the cluster.
const elsewhere = "the manifests run on any other cluster as well (kind, EKS, ...)"

// minFree is what images, volumes and logs of the demo take, with room to spare.
const minFree = 4 << 30

// packages are Debian's names of what the node runs but the binary does not hold, by a program of each.
var packages = map[string]string{
	"containerd":       "containerd",
	"runc":             "runc",
	"/usr/lib/cni/ptp": "containernetworking-plugins",
	"iptables":         "iptables",
	"conntrack":        "conntrack",
	"ip":               "iproute2",
}

// RequireRoot comes before anything that touches the state folder.
func RequireRoot() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("running pods needs root: run it with sudo; %s", elsewhere)
	}
	return nil
}

// Preflight says in one line why a cluster cannot run here, and installs missing Debian packages.
func Preflight(ctx context.Context, l layout.Layout, progress io.Writer) error {
	if err := installPackages(ctx, progress); err != nil {
		return err
	}
	if err := checkDisk(l); err != nil {
		return err
	}
	return checkNetwork(l)
}

func missingPackages() []string {
	var missing []string
	for program, pkg := range packages {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, pkg)
		}
	}
	slices.Sort(missing)
	return missing
}

// installPackages asks no registry when everything is there, so a machine without a network is fine then.
func installPackages(ctx context.Context, progress io.Writer) error {
	missing := missingPackages()
	if len(missing) == 0 {
		return nil
	}
	names := strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("missing programs of the Debian packages %s: install their like with this system's package manager; %s", names, elsewhere)
	}
	_, _ = fmt.Fprintf(progress, "installing the packages %s\n", names)
	install := append([]string{"install", "-y", "-q", "--no-install-recommends"}, missing...)
	for _, args := range [][]string{{"update", "-q"}, install} {
		cmd := exec.CommandContext(ctx, "apt-get", args...) //nolint:gosec // package names from the list above
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("installing the packages %s with apt-get: %w: %s", names, err, lastLine(out))
		}
	}
	return nil
}

func checkDisk(l layout.Layout) error {
	if err := os.MkdirAll(l.Dir, 0o750); err != nil {
		return fmt.Errorf("making the state folder: %w", err)
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(l.Dir, &stat); err != nil {
		return fmt.Errorf("reading the free space of %s: %w", l.Dir, err)
	}
	if free := stat.Bavail * uint64(stat.Bsize); free < minFree {
		return fmt.Errorf("no disk space: %s has %d MiB free and the cluster needs %d MiB; free some, or choose another --state-dir",
			l.Dir, free>>20, uint64(minFree)>>20)
	}
	return nil
}

// checkNetwork refuses ranges that are in use. Ports cannot be taken: the node has a network of its own.
func checkNetwork(l layout.Layout) error {
	links, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("listing the network links: %w", err)
	}
	for _, link := range links {
		addrs, err := link.Addrs()
		if err != nil {
			continue // gone since it was listed
		}
		for _, addr := range addrs {
			prefix, ok := addr.(*net.IPNet)
			if ok && l.Network.Contains(asAddr(prefix.IP)) {
				return fmt.Errorf("the address range %s is taken by %s (%s): another cluster, perhaps; run cluster down with its --state-dir, or choose another --network",
					l.Network, link.Name, addr)
			}
		}
	}
	return nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
