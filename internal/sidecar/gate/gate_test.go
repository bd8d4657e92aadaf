package gate

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// sidecar answers the gate as it is told.
type sidecar struct {
	mu     sync.Mutex
	answer func(address string) (status int, body string)
	asked  []string
}

func (s *sidecar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path != api.PathGate {
		return // healthz: open
	}
	address := r.URL.Query().Get(api.GateAddressParam)
	s.asked = append(s.asked, address)
	status, body := s.answer(address)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (s *sidecar) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func opened(string) (int, string) { return http.StatusOK, `{"state":"open"}` }

// gateAt is a gate of a sidecar that answers, over an empty home.
func gateAt(t *testing.T, answer func(string) (int, string)) (Gate, *sidecar) {
	t.Helper()
	s := &sidecar{answer: answer}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return Gate{Sidecar: srv.URL, Home: t.TempDir(), Log: slog.New(slog.DiscardHandler)}, s
}

func record(t *testing.T, g Gate) supervision.Record {
	t.Helper()
	r, err := supervision.Read(g.Home)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRun_WaitsUntilTheSidecarSaysGo(t *testing.T) {
	answers := 0
	g, _ := gateAt(t, func(string) (int, string) {
		answers++
		switch answers {
		case 1:
			return http.StatusServiceUnavailable, ""
		case 2:
			return http.StatusOK, `{"state":"closed"}`
		case 3:
			return http.StatusOK, `{"state":"open","refusal":"the key is for address B; the gate was opened for A"}`
		}
		return http.StatusOK, `{"state":"open"}`
	})
	polls := 0
	g.WhileWaiting = func(context.Context) {
		polls++
		r := record(t, g)
		if polls == 4 && (r.State != api.SeidWaiting || r.Refusal != "the key is for address B; the gate was opened for A") {
			t.Errorf("while it is refused the record is %+v", r)
		}
	}
	if err := g.Run(t.Context(), []string{"true"}); err != nil || answers != 5 || polls != 4 {
		t.Errorf("after %d answers and %d polls: %v", answers, polls, err)
	}
}

// Whoever closes the gate reads the record next. It has to say that seid is about to be started, or
// the gate has to hear of it.
func TestRun_GateClosedAtTheLastMoment_IsNotStarted(t *testing.T) {
	answers := 0
	var g Gate
	g, _ = gateAt(t, func(string) (int, string) {
		answers++
		r := record(t, g)
		if starting := answers == 2 || answers == 4; r.Starting != starting || r.State != api.SeidWaiting {
			t.Errorf("at question %d the record is %+v", answers, r)
		}
		if answers == 2 {
			return http.StatusOK, `{"state":"held"}`
		}
		return http.StatusOK, `{"state":"open"}`
	})
	if err := g.Run(t.Context(), []string{"true"}); err != nil || answers != 4 {
		t.Errorf("after %d answers: %v", answers, err)
	}
	if r := record(t, g); r.Starting || r.LastExit == nil {
		t.Errorf("in the end the record is %+v", r)
	}
}

func TestRun_OlderSidecar_IsAskedForItsHealth(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusUnauthorized} {
		g, _ := gateAt(t, func(string) (int, string) { return status, "" })
		if err := g.Run(t.Context(), []string{"true"}); err != nil {
			t.Error(err)
		}
	}
}

func TestRun_NobodyAnswers_GoesOnUntilItIsEnded(t *testing.T) {
	g, _ := gateAt(t, opened)
	g.Sidecar = "http://127.0.0.1:1"
	ctx, cancel := context.WithCancel(t.Context())
	g.WhileWaiting = func(context.Context) {
		if r := record(t, g); strings.Contains(r.Waiting, "does not answer") {
			cancel()
		}
	}
	if err := g.Run(ctx, []string{"true"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRun_UnknownCommand_IsFoundOutAtOnce(t *testing.T) {
	// Nobody answers there, so a gate that waits first would never return.
	g := Gate{Sidecar: "http://127.0.0.1:1", Log: slog.New(slog.DiscardHandler)}
	if err := g.Run(t.Context(), []string{"no-such-command"}); !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}

func TestRun_ConfigurationThatMustNotStart_IsRefusedUntilItMay(t *testing.T) {
	g, _ := gateAt(t, opened)
	asked := 0
	g.Rules.MayStart = func(context.Context) error {
		if asked++; asked == 1 {
			return errors.New("configuration B has not passed config-validate")
		}
		if r := record(t, g); r.Refusal != "configuration B has not passed config-validate" {
			t.Errorf("the refusal was recorded as %+v", r)
		}
		return nil
	}
	if err := g.Run(t.Context(), []string{"true"}); err != nil || asked != 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
