package gate

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync/atomic"
	"testing"
)

func gateAt(url string) Gate { return Gate{HealthURL: url, Log: slog.New(slog.DiscardHandler)} }

func TestWait_ReturnsWhenTheSidecarSaysGo(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer srv.Close()
	if err := gateAt(srv.URL).Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if asked.Load() != 3 {
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestWait_NobodyAnswers_GoesOnUntilItIsEnded(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	url := srv.URL
	srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- gateAt(url).Wait(ctx) }()
	select {
	case err := <-done:
		t.Fatalf("gave up: %v", err)
	default:
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPass_UnknownCommand_IsFoundOutAtOnce(t *testing.T) {
	// Nobody answers there, so a gate that waits first would never return.
	err := gateAt("http://127.0.0.1:1").Pass(t.Context(), []string{"no-such-command"})
	if !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}
