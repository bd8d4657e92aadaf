package world

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/internal/manager"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Operator is one process of the operator: what it knows ends with it.
type Operator struct {
	// Cache is what it knows of the cluster.
	Cache client.Reader

	cancel context.CancelFunc
	done   chan error
}

// Launch starts an operator for the world's namespace that reaches the API server by a configuration
// and the sidecars through a transport, if one is given, and waits until its caches are filled.
func (w *World) Launch(config *rest.Config, sidecars func(http.RoundTripper) http.RoundTripper) (*Operator, error) {
	token := filepath.Join(w.T.TempDir(), "token")
	if err := os.WriteFile(token, []byte(w.Token(api.TokenAudience)), 0o600); err != nil {
		return nil, fmt.Errorf("writing a token: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	mgr, err := manager.New(ctx, config, manager.Config{
		Platform: w.Platform, Namespace: w.NS, WatchNamespaces: append([]string{w.NS}, w.Watched...), Concurrency: manager.DefaultConcurrency,
		MetricsAddress: w.MetricsAddress, InsecureMetrics: true, ProbeAddress: "0", ShutdownTimeout: 10 * time.Second, SidecarTokenFile: token,
		AllowSharedAudience: !w.RefuseShared, AllowPlaintext: !w.RefusePlaintext, WrapSidecarTransport: sidecars,
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("making an operator: %w", err)
	}
	o := &Operator{Cache: mgr.GetCache(), cancel: cancel, done: make(chan error, 1)}
	go func() { o.done <- mgr.Start(ctx) }()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("filling the operator's caches: %w", o.Stop())
	}
	return o, nil
}

// Stop ends the operator and waits until it has.
func (o *Operator) Stop() error {
	o.cancel()
	return <-o.done
}

// Abandon tells the operator to end and does not wait for it.
func (o *Operator) Abandon() { o.cancel() }

// StartOperator starts an operator for the world's namespace.
func (w *World) StartOperator() {
	w.T.Helper()
	operator, err := w.Launch(w.Config, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Cache = operator.Cache
	stopped := false
	w.Stop = func() {
		if stopped {
			return
		}
		stopped = true
		if err := operator.Stop(); err != nil {
			w.T.Errorf("the operator ended with: %v", err)
		}
	}
}

// RestartOperator ends the operator and starts another.
func (w *World) RestartOperator() {
	w.T.Helper()
	w.Stop()
	w.StartOperator()
}
