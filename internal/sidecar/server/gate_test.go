package server

import (
	"net/http"
	"net/http/httptest"
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
		t.Errorf("%d %s, want status %v and %q", resp.status, got, http.StatusOK, `{"state":"open","refusal":"not for AB"}`)
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

func TestGate_ARefusal_IsExplainedOverLoopbackAlone(t *testing.T) {
	s := &server{Config: Config{Gate: func(string) api.GateAnswer {
		return api.GateAnswer{State: api.GateOpen, Refusal: "the gate was opened for 220642DF"}
	}}}
	for from, want := range map[string]string{
		"127.0.0.1:4000":          `{"state":"open","refusal":"the gate was opened for 220642DF"}`,
		"[::1]:4000":              `{"state":"open","refusal":"the gate was opened for 220642DF"}`,
		"[::ffff:127.0.0.1]:4000": `{"state":"open","refusal":"the gate was opened for 220642DF"}`,
		"10.0.0.9:4000":           `{"state":"open","refusal":"the gate was not opened for this address"}`,
		"":                        `{"state":"open","refusal":"the gate was not opened for this address"}`,
	} {
		request := httptest.NewRequest(http.MethodGet, api.PathGate+"?address=AB", http.NoBody)
		request.RemoteAddr = from
		answer := httptest.NewRecorder()
		s.gate(answer, request)
		if got := strings.TrimSpace(answer.Body.String()); got != want {
			t.Errorf("from %q: %s, want %s", from, got, want)
		}
	}
}
