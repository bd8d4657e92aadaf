package gate

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func openGate(t *testing.T) Gate {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(srv.Close)
	return gateAt(srv.URL)
}

func TestRun_ExitCodes(t *testing.T) {
	for _, c := range []struct {
		script string
		want   int
	}{
		{"exit 0", 0}, {"exit 130", 0}, {"kill -TERM $$", 0}, {"exit 1", 1}, {"kill -9 $$", 137},
	} {
		err := openGate(t).Run(t.Context(), []string{"sh", "-c", c.script}, 130, 143)
		code := 0
		if exit, ok := errors.AsType[*ExitError](err); ok {
			code = exit.Code
		} else if err != nil {
			t.Fatal(err)
		}
		if code != c.want {
			t.Errorf("%s: exit code %d, want %d", c.script, code, c.want)
		}
	}
}

// A Job that is told to stop has not reached its height, whatever seid's exit code says.
func TestRun_AnEndAfterASignal_IsNoSuccess(t *testing.T) {
	for code, want := range map[string]int{"130": 130, "0": 143} {
		ready := filepath.Join(t.TempDir(), "ready")
		script := "trap 'exit " + code + "' TERM; touch " + ready + "; while :; do sleep 0.05; done"
		done := make(chan error, 1)
		go func() { done <- openGate(t).Run(t.Context(), []string{"sh", "-c", script}, 130) }()
		awaitFile(t, ready)
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if exit, ok := errors.AsType[*ExitError](<-done); !ok || exit.Code != want {
			t.Errorf("a command that ends with %s gave %v, want exit code %d", code, exit, want)
		}
	}
}

func awaitFile(t *testing.T, file string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(file); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the command did not start")
		}
	}
}
