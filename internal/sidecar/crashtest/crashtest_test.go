package crashtest

import (
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/client"
)

func TestSidecar_Killed_ForgetsItsReadinessAndKeepsItsTasks(t *testing.T) {
	s := Start(t, t.TempDir())
	id := s.Submit(api.MarkReady, "", nil)
	if got := s.Await(id); got.Status != api.TaskCompleted {
		t.Fatalf("%+v, want Status %v", got, api.TaskCompleted)
	}
	if health, err := s.Client().Health(t.Context()); err != nil || health != client.Ready {
		t.Fatalf("%v %v, want no error and health %v", health, err, client.Ready)
	}
	s.Kill()
	s.Restart()
	if health, err := s.Client().Health(t.Context()); err != nil || health != client.NotReady {
		t.Errorf("a new process is not ready: %v %v", health, err)
	}
	if got := s.Await(id); got.Status != api.TaskCompleted {
		t.Errorf("%+v, want Status %v", got, api.TaskCompleted)
	}
}

// Whatever the moment of the kill: an accepted task ends, and the gate is where
// the last accepted task put it.
func TestSidecar_KilledAtRandom_EndsEveryAcceptedTask(t *testing.T) {
	s := Start(t, t.TempDir())
	rng := rand.New(rand.NewPCG(3, 5))
	for range 20 {
		got := s.RunKilled(api.MarkReady, nil, Kills{Number: 2, Within: 15 * time.Millisecond, Rand: rng})
		if got.Status != api.TaskCompleted || got.Run != 1 {
			t.Fatalf("%+v, want Status %v and Run 1", got, api.TaskCompleted)
		}
		if got := s.RunKilled(api.MarkNotReady, nil, Kills{Number: 1, Within: 15 * time.Millisecond, Rand: rng}); got.Status != api.TaskCompleted {
			t.Fatalf("%+v, want Status %v", got, api.TaskCompleted)
		}
		if health, err := s.Client().Health(t.Context()); err != nil || health != client.NotReady {
			t.Fatalf("a hold was accepted, and yet: %v %v", health, err)
		}
	}
}

func TestSidecar_Terminated_EndsCleanly(t *testing.T) {
	s := Start(t, t.TempDir())
	if code := s.Terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestSidecar_OldClientOfTheGate_IsAnswered(t *testing.T) {
	s := Start(t, t.TempDir())
	ask := func() string {
		var d net.Dialer
		conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.Write([]byte("GET /v0/healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 1024)
		n, err := conn.Read(answer)
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(answer[:n]), "\r\n")
		return line
	}
	if got := ask(); got != "HTTP/1.0 503 Service Unavailable" {
		t.Errorf("closed gate: %q", got)
	}
	s.Run(api.MarkReady, nil)
	if got := ask(); got != "HTTP/1.0 200 OK" {
		t.Errorf("open gate: %q", got)
	}
}

func TestSidecar_HomeOfThePublicSidecar_KeepsItsDatabase(t *testing.T) {
	home := t.TempDir()
	old := filepath.Join(home, "sidecar.db")
	if err := os.WriteFile(old, []byte("SQLite format 3\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Start(t, home)
	s.Run(api.MarkReady, nil)
	s.Terminate()
	if now, err := os.ReadFile(old); err != nil || string(now) != "SQLite format 3\x00" {
		t.Errorf("%q %v, want no error and %q", now, err, "SQLite format 3\x00")
	}
}

func TestSidecar_SubmittedTwice_RunsOnce(t *testing.T) {
	s := Start(t, t.TempDir())
	id := uuid.NewString()
	for range 3 {
		if got := s.Submit(api.MarkReady, id, nil); got != id {
			t.Fatal(got)
		}
	}
	if got := s.Await(id); got.Run != 1 {
		t.Errorf("%+v, want Run 1", got)
	}
}
