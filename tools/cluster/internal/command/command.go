// Package command is what people call: cluster up, down, status, kubeconfig, load-image and build-image. It reads
// flags, prints progress, and puts the other packages' steps in order.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

// defaultNetwork is the first half of the range reserved for tests; a second cluster takes the other.
const defaultNetwork = "198.18.0.0/16"

// Run is one command: it has read its flags and does its work.
type Run func(ctx context.Context) error

// Main makes a program of a command: it parses os.Args, ends on the first interrupt, and prints errors in a line.
func Main(prepare func(flags *flag.FlagSet) Run) func() int {
	return func() int {
		flags := flag.NewFlagSet(filepath.Base(os.Args[0]), flag.ContinueOnError)
		command := prepare(flags)
		if err := flags.Parse(os.Args[1:]); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return 0
			}
			return 2
		}
		// The node's programs are in folders that not every shell of root looks into.
		if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/local/sbin:/usr/sbin:/sbin"); err != nil {
			return 1
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if err := command(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "cluster "+flags.Name()+": "+err.Error())
			return 1
		}
		return 0
	}
}

// place adds the flags that say which cluster is meant.
func place(flags *flag.FlagSet) func() (layout.Layout, error) {
	dir := flags.String("state-dir", filepath.Join(".state", "cluster"), "folder that holds everything of the cluster")
	network := flags.String("network", defaultNetwork, "address range of the cluster: 198.18.0.0/16 or 198.19.0.0/16")
	return func() (layout.Layout, error) { return layout.New(*dir, *network) }
}

// client talks to the cluster as its administrator.
func client(l layout.Layout) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	// The cluster is on this machine, whatever proxy the environment names.
	config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return clients, nil
}

// lock keeps two commands from changing the same cluster at once. It ends with the process.
func lock(l layout.Layout) error {
	if err := os.MkdirAll(filepath.Dir(l.Dir), 0o750); err != nil {
		return fmt.Errorf("making the folder above the state folder: %w", err)
	}
	// Beside the state folder, because down removes that one.
	file, err := os.OpenFile(l.Dir+".lock", os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("opening the lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("another command is working on the cluster in %s: wait for it to end", l.Dir)
	}
	return nil
}
