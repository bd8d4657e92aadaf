package main

import (
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/handlers"
)

// nodeConfig returns what tasks and probes need to know about the node.
func nodeConfig(s settings, registry prometheus.Registerer) handlers.Config {
	pod, err := os.Hostname()
	if err != nil {
		pod = "unknown"
	}
	return handlers.Config{
		Home: s.Home, ChainID: s.ChainID, SeidPath: s.Seid,
		GenesisBucket: s.GenesisBucket, SnapshotBucket: s.SnapshotBucket, UploadTimeout: s.UploadTimeout, UploadInterval: s.UploadInterval,
		Keyring:    handlers.Keyring{Backend: s.KeyringBackend, Dir: s.KeyringDir, Passphrase: s.KeyringPassphrase, PassphraseFile: s.KeyringPassphraseFile},
		PrivateDir: s.PrivateDir, PodName: pod, Registry: registry,
	}
}
