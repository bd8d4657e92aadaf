package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/internal/certificates"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/server"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

func newAuthority(now time.Time) *certificates.Authority {
	return &certificates.Authority{
		Secrets: fake.NewClientBuilder().Build(), Namespace: "operator", Clock: clocktesting.NewFakePassiveClock(now),
	}
}

// pairOf is a certificate of a server name.
func pairOf(tb testing.TB, by *certificates.Authority, name string) *tls.Certificate {
	tb.Helper()
	issued, err := by.Issue(tb.Context(), name)
	if err != nil {
		tb.Fatal(err)
	}
	pair, err := tls.X509KeyPair(issued.Certificate, issued.Key)
	if err != nil {
		tb.Fatal(err)
	}
	return &pair
}

// realServer is the sidecar's server as it listens in a pod. With a certificate it speaks TLS too.
type realServer struct {
	address string
	// tokens and accepted count what it was shown, and its connections.
	tokens, accepted atomic.Int64
}

// Authenticate implements auth.Authenticator.
func (s *realServer) Authenticate(r *http.Request) (string, error) {
	if r.Header.Get("Authorization") != "" {
		s.tokens.Add(1)
	}
	return auth.Open{}.Authenticate(r)
}

// countedListener counts connections.
type countedListener struct {
	net.Listener
	accepted *atomic.Int64
}

// Accept implements net.Listener.
func (l countedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.accepted.Add(1)
	}
	return conn, err
}

func serveReal(tb testing.TB, certificate server.GetCertificate) *realServer {
	tb.Helper()
	return serveTasks(tb, certificate, nil)
}

// serveTasks is serveReal with tasks, which are nil where nobody hands in any.
func serveTasks(tb testing.TB, certificate server.GetCertificate, tasks server.Tasks) *realServer {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s, log := &realServer{address: l.Addr().String()}, slog.New(slog.DiscardHandler)
	handler := server.New(server.Config{
		Tasks: tasks, Auth: s, RequireTLS: certificate != nil, Registry: prometheus.NewRegistry(), Log: log,
		Node: func(context.Context) api.Node { return api.Node{APILevel: api.Level} },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, countedListener{l, &s.accepted}, handler, certificate, log, 0) }()
	tb.Cleanup(func() { cancel(); <-ended })
	return s
}

func always(pair *tls.Certificate) server.GetCertificate {
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair, nil }
}

const (
	nodeA = "uid-a.a.ns.sidecar.sei.io"
	nodeB = "uid-b.b.ns.sidecar.sei.io"
)

func look(tb testing.TB, opts Options, target Target) error {
	tb.Helper()
	opts.Tokens = staticToken("secret")
	pool := NewPool(opts)
	defer pool.CloseIdle()
	_, err := pool.Sidecar(target).Node(tb.Context())
	return err
}

// Whoever does not prove that it is the node's sidecar hears nothing, no token above all.
func TestTLS_OnlyTheNodesOwnCertificateIsTrusted(t *testing.T) {
	ours, foreign := newAuthority(time.Now()), newAuthority(time.Now())
	expired := newAuthority(time.Now().Add(-2 * certificates.Lifetime))
	for what, c := range map[string]struct {
		serves *tls.Certificate
		trusts *certificates.Authority
		says   string // empty: it is trusted
	}{
		"its own":               {pairOf(t, ours, nodeA), ours, ""},
		"another node's":        {pairOf(t, ours, nodeB), ours, "not that of this node"},
		"of another authority":  {pairOf(t, foreign, nodeA), ours, "does not trust"},
		"that has expired":      {pairOf(t, expired, nodeA), expired, "expired"},
		"none that can be used": {nil, ours, "no certificate that it can use"},
	} {
		certificate := always(c.serves)
		if c.serves == nil {
			certificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New("none") }
		}
		s := serveReal(t, certificate)
		err := look(t, Options{Roots: c.trusts.Roots}, Target{Address: s.address, ServerName: nodeA})
		unproved, ok := errors.AsType[*CertificateError](err)
		switch {
		case c.says == "" && (err != nil || s.tokens.Load() != 1):
			t.Errorf("%s: %v, after %d tokens", what, err, s.tokens.Load())
		case c.says != "" && (!ok || !errors.Is(err, ErrCertificate) || !errors.Is(err, ErrUnreachable) || !strings.Contains(unproved.Problem, c.says)):
			t.Errorf("%s: %v", what, err)
		case c.says != "" && s.tokens.Load() != 0:
			t.Errorf("%s: it was shown a token", what)
		}
	}
}

// There is no way back to plain HTTP for a sidecar that has a certificate, and none to TLS without an
// authority.
func TestTLS_IsNeverGivenUp(t *testing.T) {
	ours := newAuthority(time.Now())
	plain, secure := serveReal(t, nil), serveReal(t, always(pairOf(t, ours, nodeA)))
	if err := look(t, Options{Roots: ours.Roots}, Target{Address: plain.address, ServerName: nodeA}); !errors.Is(err, ErrCertificate) ||
		!strings.Contains(err.Error(), "does not speak TLS") || plain.tokens.Load() != 0 {
		t.Errorf("a sidecar that answers in the clear: %v, after %d tokens", err, plain.tokens.Load())
	}
	if err := look(t, Options{}, Target{Address: secure.address, ServerName: nodeA}); !errors.Is(err, ErrUnreachable) {
		t.Errorf("without an authority: %v", err)
	}
	away := func(context.Context) (*x509.CertPool, error) { return nil, errors.New("away") }
	if err := look(t, Options{Roots: away}, Target{Address: secure.address, ServerName: nodeA}); !errors.Is(err, ErrCertificate) {
		t.Errorf("with an authority that cannot be read: %v", err)
	}
	if err := look(t, Options{}, Target{Address: secure.address}); !errors.Is(err, ErrUnauthorized) || secure.tokens.Load() != 0 {
		t.Errorf("in the clear: %v, after %d tokens", err, secure.tokens.Load())
	}
}

func TestTLS_PlaintextRefused_IsNotCalled(t *testing.T) {
	s := serveReal(t, nil)
	if err := look(t, Options{RefusePlaintext: true}, Target{Address: s.address}); !errors.Is(err, ErrPlaintext) || s.accepted.Load() != 0 {
		t.Errorf("%v, after %d connections", err, s.accepted.Load())
	}
	if err := look(t, Options{}, Target{Address: s.address}); err != nil {
		t.Errorf("where it is allowed: %v", err)
	}
}

// A connection is kept, for whom it was made and for nobody else.
func TestTLS_Connections_AreKeptPerNodeAndAddress(t *testing.T) {
	ours := newAuthority(time.Now())
	s := serveReal(t, always(pairOf(t, ours, nodeA)))
	pool := NewPool(Options{Roots: ours.Roots})
	defer pool.CloseIdle()
	for range 3 {
		if _, err := pool.Sidecar(Target{Address: s.address, ServerName: nodeA}).Node(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.accepted.Load(); n != 1 {
		t.Errorf("%d connections for three calls", n)
	}
	if _, err := pool.Sidecar(Target{Address: s.address, ServerName: nodeB}).Node(t.Context()); !errors.Is(err, ErrCertificate) {
		t.Errorf("another node at the same address gets the connection of the first: %v", err)
	}
}
