// Command manager is the operator process: it watches SeiNodes, SeiNodeDeployments and
// SeiNodeTasks, and brings the cluster to the state they describe. All of its options are flags;
// see manager --help. Flags and wiring only: the work is done in internal/manager.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/sei-operator/sei-operator/internal/manager"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/tracing"
)

// garbagePercent is how much garbage may accumulate relative to the live heap. Most of the
// operator's memory is its cache, which is long-lived: the default of 100 would reserve the same
// amount again.
const garbagePercent = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	settings, err := parse(args, getenv, stderr)
	if err != nil {
		return err
	}
	version, commit := buildInfo()
	if settings.showVersion {
		_, err := fmt.Fprintf(stdout, "sei-operator %s (%s)\n", version, commit)
		return err
	}
	logger, err := settings.logger(stderr)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)

	cfg := settings.manager
	cfg.Version, cfg.Commit = version, commit
	if cfg.Platform, err = platform.Load(settings.configFile); err != nil {
		return err
	}
	if err := cfg.Validate(); err != nil {
		return err
	}
	tracer, stopTracing, err := tracing.Start(ctx, getenv, logger.WithName("tracing"), version)
	if err != nil {
		return err
	}
	defer flush(stopTracing)
	cfg.Tracer = tracer
	restConfig, err := settings.restConfig()
	if err != nil {
		return err
	}
	restConfig.UserAgent = "sei-operator/" + version
	mgr, err := manager.New(ctx, restConfig, cfg)
	if err != nil {
		return err
	}
	logger.Info("starting", "version", version, "commit", commit, "namespace", cfg.Namespace, "concurrency", cfg.Concurrency)
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running: %w", err)
	}
	logger.Info("stopped")
	return nil
}

// flush sends the last spans. The process exits whether or not they are received.
func flush(stop func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := stop(ctx); err != nil {
		ctrl.Log.WithName("tracing").Error(err, "sending the last traces")
	}
}

// restConfig returns the configuration for connecting to the API server.
func (s *settings) restConfig() (*rest.Config, error) {
	find := ctrlconfig.GetConfig
	if s.kubeconfig != "" {
		find = func() (*rest.Config, error) { return clientcmd.BuildConfigFromFlags("", s.kubeconfig) }
	}
	config, err := find()
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w", err)
	}
	config.QPS, config.Burst = s.qps, s.burst
	return config, nil
}
