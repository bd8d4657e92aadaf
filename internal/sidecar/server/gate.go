package server

import (
	"net/http"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// gate answers the gate process, which asks before every start of seid.
func (s *server) gate(w http.ResponseWriter, r *http.Request) {
	if s.Gate == nil {
		http.NotFound(w, r)
		return
	}
	respond(w, http.StatusOK, s.Gate(r.URL.Query().Get(api.GateAddressParam)))
}
