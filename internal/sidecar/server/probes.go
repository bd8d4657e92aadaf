package server

import (
	"net/http"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

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

func (s *server) nodeID(w http.ResponseWriter, _ *http.Request) {
	id, err := s.NodeID()
	if err != nil {
		detail := api.DetailOf(err)
		respondError(w, http.StatusInternalServerError, err.Error(), &detail)
		return
	}
	respond(w, http.StatusOK, api.NodeID{NodeID: id})
}
