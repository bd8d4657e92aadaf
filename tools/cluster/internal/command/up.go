package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"k8s.io/component-base/version"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/host"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/pki"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/render"
)

// Up brings the cluster up, or finds it up. After a crash it continues with the state that is there, as a machine
// does after a reboot.
func Up(flags *flag.FlagSet) Run {
	at := place(flags)
	return func(ctx context.Context) error {
		l, err := at()
		if err != nil {
			return err
		}
		began := time.Now()
		if err := up(ctx, l, os.Stderr); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "cluster is up after %s\n", time.Since(began).Round(100*time.Millisecond))
		fmt.Println(l.Kubeconfig())
		return nil
	}
}

func up(ctx context.Context, l layout.Layout, progress io.Writer) error {
	if err := host.RequireRoot(); err != nil {
		return err
	}
	if err := lock(l); err != nil {
		return err
	}
	record, err := host.ReadRecord(l)
	if err != nil {
		return err
	}
	if err := sameCluster(record, l); err != nil {
		return err
	}
	if record.Running() {
		_, _ = fmt.Fprintln(progress, "already running")
		// A node that was killed a moment ago may still be seen; it is started again below.
		if err := awaitReady(ctx, l, time.Time{}, progress); err == nil || record.Running() {
			return err
		}
	}
	if err := host.Stop(ctx, l, record); err != nil {
		return err
	}
	if err := host.Preflight(ctx, l, progress); err != nil {
		return err
	}
	// A new cluster knows nothing of its node yet, so all it hears is fresh.
	var since time.Time
	if record != nil {
		since = time.Now()
	} else if record, err = host.NewRecord(l, kubernetesVersion()); err != nil {
		return err
	}
	if err := furnish(l); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(progress, "starting Kubernetes %s in %s\n", record.Version, l.Dir)
	if err := host.Start(ctx, l, record); err != nil {
		return stopAfter(l, record, err)
	}
	if err := awaitReady(ctx, l, since, progress); err != nil {
		return stopAfter(l, record, err)
	}
	return nil
}

// stopAfter does not leave half a cluster behind. The state and its logs stay for a look.
func stopAfter(l layout.Layout, record *host.Record, cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := host.Stop(ctx, l, record); err != nil {
		return fmt.Errorf("%w; and then %w", cause, err)
	}
	return fmt.Errorf("%w; the logs are in %s", cause, l.Path("log"))
}

func kubernetesVersion() string { return version.Get().GitVersion }

// sameCluster refuses state that this binary or these flags would misread.
func sameCluster(record *host.Record, l layout.Layout) error {
	switch {
	case record == nil:
		return nil
	case record.Version != kubernetesVersion():
		return fmt.Errorf("the cluster in %s is Kubernetes %s and this is %s: run cluster down first, or use another --state-dir",
			l.Dir, record.Version, kubernetesVersion())
	case record.Network != l.Network.String():
		return fmt.Errorf("the cluster in %s uses the network %s: pass --network=%s, or run cluster down first", l.Dir, record.Network, record.Network)
	}
	return nil
}

// furnish writes what the components read. Credentials are made once; the rest may change with this program.
func furnish(l layout.Layout) error {
	if _, err := os.Stat(l.Path("pki")); errors.Is(err, fs.ErrNotExist) {
		// Made aside, so that there are all of them or none.
		aside := l.Path("pki.new")
		if err := makeCredentials(l, aside, time.Now()); err != nil {
			return err
		}
		if err := os.Rename(aside, l.Path("pki")); err != nil {
			return fmt.Errorf("keeping the certificates: %w", err)
		}
	}
	return writeFiles(render.Files(l))
}

// makeCredentials makes a certificate per component, so that the audit log tells them apart.
func makeCredentials(l layout.Layout, dir string, now time.Time) error {
	authority, err := pki.NewAuthority(dir, now)
	if err != nil {
		return err
	}
	if err := authority.SigningKey("service-accounts"); err != nil {
		return err
	}
	hosts := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + layout.ClusterDomain}
	addresses := []netip.Addr{l.NodeIP(), l.APIService(), netip.MustParseAddr("127.0.0.1")}
	if err := authority.Server("apiserver", now, hosts, addresses); err != nil {
		return err
	}
	for _, client := range []struct{ file, user, group string }{
		{"admin", "admin", "system:masters"},
		{"kubelet-client", "kube-apiserver", "system:masters"},
		{"kube-controller-manager", "system:kube-controller-manager", ""},
		{"kube-scheduler", "system:kube-scheduler", ""},
		{"kubelet", "system:node:" + layout.NodeName, "system:nodes"},
		{"kube-proxy", "system:kube-proxy", ""},
		{"coredns", "coredns", "system:masters"},
		{"provisioner", "provisioner", "system:masters"},
	} {
		if err := authority.Client(client.file, client.user, now, client.group); err != nil {
			return err
		}
	}
	return nil
}

func writeFiles(files map[string]string) error {
	for path, content := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("making a configuration folder: %w", err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return fmt.Errorf("writing a configuration file: %w", err)
		}
	}
	return nil
}
