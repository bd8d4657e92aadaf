package main

import (
	"os"

	"github.com/prometheus/client_golang/prometheus"

	_ "github.com/sei-operator/sei-operator/internal/objectstore/drivers" // buckets of every kind
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers"
)

// taskHandlers are the tasks this sidecar can run, beside the two that move the
// gate.
func taskHandlers(s settings, registry prometheus.Registerer) []engine.Handler {
	pod, err := os.Hostname()
	if err != nil {
		pod = "unknown"
	}
	return handlers.All(handlers.Config{
		Home: s.Home, ChainID: s.ChainID, SeidPath: s.Seid,
		GenesisBucket: s.GenesisBucket, SnapshotBucket: s.SnapshotBucket, UploadTimeout: s.UploadTimeout,
		Keyring: handlers.Keyring{Backend: s.KeyringBackend, Dir: s.KeyringDir, Passphrase: s.KeyringPassphrase},
		PodName: pod, Registry: registry,
	})
}
