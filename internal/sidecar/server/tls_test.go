package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/internal/certificates"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

const serverName = "uid.n.ns.sidecar.sei.io"

func newAuthority() *certificates.Authority {
	return &certificates.Authority{Secrets: fake.NewClientBuilder().Build(), Namespace: "operator", Clock: clock.RealClock{}}
}

// mounted is a folder with a certificate as the kubelet lays it out: the files lead through a link to
// a folder, and the link is replaced as a whole.
type mounted struct {
	t   *testing.T
	dir string
}

func (m mounted) put(files map[string][]byte) {
	m.t.Helper()
	version, err := os.MkdirTemp(m.dir, "..version")
	if err != nil {
		m.t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(version, name), content, 0o600); err != nil {
			m.t.Fatal(err)
		}
		link := filepath.Join(m.dir, name)
		if err := os.Symlink(filepath.Join("..data", name), link); err != nil && !os.IsExist(err) {
			m.t.Fatal(err)
		}
	}
	next := filepath.Join(m.dir, "..next")
	if err := os.Symlink(filepath.Base(version), next); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(m.dir, "..data")); err != nil {
		m.t.Fatal(err)
	}
}

func (m mounted) issue(by *certificates.Authority) *certificates.Issued {
	m.t.Helper()
	issued, err := by.Issue(m.t.Context(), serverName)
	if err != nil {
		m.t.Fatal(err)
	}
	m.put(map[string][]byte{api.FileCertificate: issued.Certificate, api.FileKey: issued.Key})
	return issued
}

// readyStore has an open gate and nothing else.
type readyStore struct{ brokenStore }

// Ready implements Tasks.
func (readyStore) Ready() bool { return true }

// serveTLS serves as the sidecar does and gives its address.
func serveTLS(t *testing.T, pair *KeyPair) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	handler := New(Config{
		Tasks: readyStore{}, Auth: auth.Open{}, RequireTLS: true, Registry: prometheus.NewRegistry(), Log: log,
		Node: func(context.Context) api.Node { return api.Node{APILevel: api.Level} }, InSync: func(context.Context) error { return nil },
		Gate: func(string) api.GateAnswer { return api.GateAnswer{} },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, handler, pair.Get, log, 0) }()
	t.Cleanup(func() { cancel(); <-ended })
	return l.Addr().String()
}

// served is the certificate that a server shows on a new connection.
func served(t *testing.T, address string, roots *x509.CertPool) (*x509.Certificate, error) {
	t.Helper()
	dialer := &tls.Dialer{Config: &tls.Config{ServerName: serverName, RootCAs: roots}}
	conn, err := dialer.DialContext(t.Context(), "tcp4", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// The files are replaced under a server that runs: by the next certificate, by nonsense, by nothing.
func TestKeyPair_FilesAreReplaced_WhatCanBeUsedIsServed(t *testing.T) {
	by, files := newAuthority(), mounted{t, t.TempDir()}
	at := clocktesting.NewFakePassiveClock(time.Now())
	address := serveTLS(t, &KeyPair{Read: FilesIn(files.dir), Log: slog.New(slog.DiscardHandler), Clock: at})
	roots, err := by.Roots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	later := func() { at.SetTime(at.Now().Add(keyPairReadEvery)) }
	if _, err := served(t, address, roots); err == nil {
		t.Fatal("a certificate is served before there is one")
	}
	want := func(what string, issued *certificates.Issued) {
		t.Helper()
		later()
		got, err := served(t, address, roots)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		pair, err := tls.X509KeyPair(issued.Certificate, issued.Key)
		if err != nil || !bytes.Equal(got.Raw, pair.Leaf.Raw) {
			t.Errorf("%s: another certificate is served (%v)", what, err)
		}
	}
	first := files.issue(by)
	want("the first one", first)
	second := files.issue(by)
	if _, err := served(t, address, roots); err != nil {
		t.Fatal(err)
	}
	want("a renewed one", second)
	files.put(map[string][]byte{api.FileCertificate: []byte("x"), api.FileKey: []byte("y")})
	want("an edit that is nonsense", second)
	files.put(map[string][]byte{api.FileCertificate: first.Certificate, api.FileKey: second.Key})
	want("a key of another certificate", second)
	if err := os.Remove(filepath.Join(files.dir, "..data")); err != nil {
		t.Fatal(err)
	}
	want("no files", second)
}

// One port serves both: what is public in the clear and over TLS, the rest over TLS alone.
func TestTLS_InTheClear_OnlyWhatIsPublic(t *testing.T) {
	by, files := newAuthority(), mounted{t, t.TempDir()}
	files.issue(by)
	address := serveTLS(t, &KeyPair{Read: FilesIn(files.dir), Log: slog.New(slog.DiscardHandler), Clock: clock.RealClock{}})
	roots, err := by.Roots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{ServerName: serverName, RootCAs: roots}}}
	defer web.CloseIdleConnections()
	ask := func(scheme, method, path string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, scheme+"://"+address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := web.Do(req)
		if err != nil {
			t.Fatalf("%s %s over %s: %v", method, path, scheme, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	for _, path := range []string{api.PathHealth, api.PathStartup, api.PathLive, api.PathGate, api.PathInSync, api.PathMetrics} {
		plain, secure := ask("http", http.MethodGet, path), ask("https", http.MethodGet, path)
		if plain == http.StatusForbidden || plain != secure {
			t.Errorf("%s: %d in the clear, %d over TLS", path, plain, secure)
		}
	}
	for _, c := range []struct{ method, path string }{
		{http.MethodGet, api.PathNode}, {http.MethodGet, "/v0/status"}, {http.MethodGet, "/v0/version"}, {http.MethodGet, "/v0/node-id"},
		{http.MethodPost, "/v0/tasks"}, {http.MethodGet, "/v0/tasks"}, {http.MethodGet, "/v0/tasks/x"}, {http.MethodDelete, "/v0/tasks/x"},
		{http.MethodGet, "/v0/unknown"},
	} {
		if got := ask("http", c.method, c.path); got != http.StatusForbidden {
			t.Errorf("%s %s in the clear: %d", c.method, c.path, got)
		}
	}
	if got := ask("https", http.MethodGet, api.PathNode); got != http.StatusOK {
		t.Errorf("the document over TLS: %d", got)
	}
}

// A client that says nothing is released like any other.
func TestTLS_HalfAHandshake_HoldsNobodyUp(t *testing.T) {
	by, files := newAuthority(), mounted{t, t.TempDir()}
	files.issue(by)
	address := serveTLS(t, &KeyPair{Read: FilesIn(files.dir), Log: slog.New(slog.DiscardHandler), Clock: clock.RealClock{}})
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte{recordHandshake, 3, 1}); err != nil {
		t.Fatal(err)
	}
	roots, err := by.Roots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := served(t, address, roots); err != nil {
		t.Errorf("another client: %v", err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(4 * readHeaderTimeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection is still open")
	}
}
