package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/sei-operator/sei-operator/test/security"
)

func TestTry_SendsPathTokenAndHeaderAsTheyAre(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("of-the-pod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var path, token, user string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, token, user = r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("X-Remote-User")
		w.WriteHeader(http.StatusTeapot)
	})
	for _, server := range []*httptest.Server{httptest.NewServer(handler), httptest.NewTLSServer(handler)} {
		t.Cleanup(server.Close)
		for sent, a := range map[string]security.Attempt{
			"/v0/healthz/../node":   {TokenFile: file},
			"//v0/node":             {},
			"/v0/metrics/..%2fnode": {Header: map[string]string{"X-Remote-User": "operator"}},
			"/v0/livez?verbose=1":   {},
		} {
			a.Method, a.URL = http.MethodGet, server.URL+sent
			got := try(a)
			if got.Status != http.StatusTeapot || path != sent || got.Error != "" {
				t.Errorf("%s was sent as %s: %+v", sent, path, got)
			}
			if want := map[bool]string{true: "Bearer of-the-pod"}[a.TokenFile != ""]; token != want {
				t.Errorf("%s was sent with %q, want %q", sent, token, want)
			}
			if user != a.Header["X-Remote-User"] {
				t.Errorf("%s was sent as user %q", sent, user)
			}
		}
	}
}

func TestTry_APort_IsOpenOrNot(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.Listener.Addr().String()
	if got := try(security.Attempt{Address: address}); !got.Connected {
		t.Errorf("a port that is open: %+v", got)
	}
	server.Close()
	if got := try(security.Attempt{Address: address}); got.Connected || got.Error == "" {
		t.Errorf("a port that is closed: %+v", got)
	}
}
