package server

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

func TestGate_AnswersWithoutKnowingTheCaller_AndCallersAreHeard(t *testing.T) {
	var heard atomic.Int32
	srv := serve(t, func(c *Config) {
		c.Auth = auth.TrustedHeader{}
		c.Heard = func() { heard.Add(1) }
		c.Gate = func(address string) api.GateAnswer {
			return api.GateAnswer{State: api.GateOpen, Refusal: "not for " + address}
		}
	})
	resp := do(t, http.MethodGet, srv.URL+api.PathGate+"?address=AB", "")
	if got := strings.TrimSpace(string(resp.body)); resp.status != http.StatusOK || got != `{"state":"open","refusal":"not for AB"}` {
		t.Errorf("%d %s", resp.status, got)
	}
	do(t, http.MethodGet, srv.URL+"/v0/healthz", "")
	if resp := do(t, http.MethodGet, srv.URL+"/v0/status", ""); resp.status != http.StatusUnauthorized || heard.Load() != 0 {
		t.Errorf("without a name: %d, heard %d times", resp.status, heard.Load())
	}
	do(t, http.MethodGet, srv.URL+"/v0/status", "", "X-Remote-User", "operator")
	if heard.Load() != 1 {
		t.Errorf("a known caller was heard %d times", heard.Load())
	}
}
