package server

import (
	"net/http"
	"net/netip"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// refusedElsewhere is all that is told about a refusal to others than the gate.
const refusedElsewhere = "the gate was not opened for this address"

// gate answers the gate process, which asks over loopback before every start of seid. A refusal names the
// address that the node signs with. From elsewhere that would tell which pod is which validator.
func (s *server) gate(w http.ResponseWriter, r *http.Request) {
	if s.Gate == nil {
		http.NotFound(w, r)
		return
	}
	answer := s.Gate(r.URL.Query().Get(api.GateAddressParam))
	if answer.Refusal != "" && !fromLoopback(r) {
		answer.Refusal = refusedElsewhere
	}
	respond(w, http.StatusOK, answer)
}

func fromLoopback(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback()
}
