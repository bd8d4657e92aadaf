package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

// taskHandlers are the tasks this sidecar can run, beside the two that move the
// gate.
func taskHandlers(settings, prometheus.Registerer) []engine.Handler {
	return nil
}
