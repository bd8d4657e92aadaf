package server

import (
	"context"
	"net/http"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// inSyncTimeout is shorter than the kubelet's patience, so that the answer says why.
const inSyncTimeout = 4 * time.Second

// healthz is the start gate: seid waits until it answers 200.
func (s *server) healthz(w http.ResponseWriter, _ *http.Request) {
	if !s.Tasks.Ready() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (s *server) livez(w http.ResponseWriter, r *http.Request) {
	err := s.Tasks.Ping()
	switch {
	case err == nil:
		w.WriteHeader(http.StatusOK)
	case r.URL.Query().Get("verbose") == "1":
		respondError(w, http.StatusServiceUnavailable, err.Error(), nil)
	default:
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// inSync is the node's readiness: the sidecar asks the chain in the kubelet's place,
// because no single call of the chain answers it.
func (s *server) inSync(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), inSyncTimeout)
	defer cancel()
	if err := s.InSync(ctx); err != nil {
		respondError(w, http.StatusServiceUnavailable, err.Error(), nil)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (s *server) serveMetrics(w http.ResponseWriter, r *http.Request) { s.metrics.ServeHTTP(w, r) }

func (s *server) status(w http.ResponseWriter, _ *http.Request) {
	status := api.StatusInitializing
	if s.Tasks.Ready() {
		status = api.StatusReady
	}
	respond(w, http.StatusOK, api.Status{Status: status})
}

func (s *server) version(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, api.Version{Version: s.Version, APILevel: api.Level, TaskTypes: s.Tasks.Types()})
}

// node answers with all that can be seen of the node.
func (s *server) node(w http.ResponseWriter, r *http.Request) {
	respond(w, http.StatusOK, s.Node(r.Context()))
}

func (s *server) nodeID(w http.ResponseWriter, _ *http.Request) {
	id, err := s.NodeID()
	if err != nil {
		detail := api.DetailOf(err)
		respondError(w, http.StatusInternalServerError, err.Error(), &detail)
		return
	}
	respond(w, http.StatusOK, api.NodeID{NodeID: id})
}
