// Package client is how the operator and the command-line plugin talk to a
// node's sidecar. It knows the wire and nothing of Kubernetes: where a sidecar
// is and which token opens it are given to it.
package client

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Sidecar is one node's sidecar.
type Sidecar interface {
	// Health asks whether the start gate is open. An error says nothing about
	// the gate.
	Health(ctx context.Context) (Health, error)
	Version(ctx context.Context) (api.Version, error)
	NodeID(ctx context.Context) (string, error)
	// Node is all that the sidecar sees of its node. Sidecars below api.LevelNode do not
	// know the question and give ErrNotFound.
	Node(ctx context.Context) (api.Node, error)
	// Submit stores a task and returns its id.
	Submit(ctx context.Context, task api.TaskRequest) (id string, err error)
	// Get shows a task. With a positive wait the sidecar answers when the task
	// has ended, or after that time.
	Get(ctx context.Context, id string, wait time.Duration) (api.TaskResult, error)
	List(ctx context.Context) ([]api.TaskResult, error)
	Delete(ctx context.Context, id string) error
}

// Dialer gives the sidecar of a target. It does not connect.
type Dialer interface {
	Sidecar(t Target) Sidecar
}

// Health is the state of a node's start gate.
type Health string

// The states of the start gate.
const (
	Ready    Health = "Ready"
	NotReady Health = "NotReady"
)

// Target is the node that a caller means.
type Target struct {
	// Address is the ip:port to connect to.
	Address string
	// Node is the SeiNode's namespace/name and PodUID its pod's UID. A sidecar
	// that is somebody else refuses. Empty means "whoever is there".
	Node   string
	PodUID string
	// Audience is that of the tokens the sidecar accepts; empty is api.TokenAudience.
	Audience string
	// ServerName is in the certificate of the sidecar, which is called over TLS and in no other
	// way. Empty for one that speaks plain HTTP.
	ServerName string
}

// Options of a Pool.
type Options struct {
	// Tokens is nil for sidecars that ask for none.
	Tokens TokenSource
	// RefuseShared leaves sidecars alone that accept the tokens of all nodes. Calls of them fail
	// with ErrSharedAudience.
	RefuseShared bool
	// Roots are the authorities whose certificates are trusted. Without it nobody is called over TLS.
	Roots func(context.Context) (*x509.CertPool, error)
	// RefusePlaintext leaves sidecars alone that speak plain HTTP. Calls of them fail with
	// ErrPlaintext.
	RefusePlaintext bool
	// Timeout bounds one call, apart from the wait that Get was given. The
	// default is 5 s.
	Timeout time.Duration
	// HealthTimeout bounds one health check. The default is 2 s.
	HealthTimeout time.Duration
	// WrapTransport, if set, stands between the Pool and its connections.
	WrapTransport func(http.RoundTripper) http.RoundTripper
}

// Pool is a Dialer. All its sidecars share one set of connections.
type Pool struct {
	opts   Options
	dialer *net.Dialer
	http   *http.Client
	older  olderPods
}

// NewPool makes a Pool.
func NewPool(opts Options) *Pool {
	if opts.Timeout <= 0 {
		opts.Timeout = 5 * time.Second
	}
	if opts.HealthTimeout <= 0 {
		opts.HealthTimeout = 2 * time.Second
	}
	// Calls are bounded and idle connections closed: no probes are needed.
	p := &Pool{opts: opts, dialer: &net.Dialer{Timeout: opts.Timeout, KeepAlive: -1}}
	// No proxy: a sidecar is reached by its pod's own address.
	var transport http.RoundTripper = &http.Transport{
		DialContext:    p.dialer.DialContext,
		DialTLSContext: p.dialTLS,
		// One for every node of a large cluster: each is looked at about every 30 s, and a
		// new connection costs as much time as the look itself. The buffers are just large
		// enough for what a look says, so that keeping a connection costs little memory.
		MaxIdleConns:        1024,
		MaxIdleConnsPerHost: 1,
		// A sidecar that answers nothing holds no more than these.
		MaxConnsPerHost: 8,
		ReadBufferSize:  2 << 10,
		WriteBufferSize: 2 << 10,
		// The sidecar closes idle connections after 60 s; we close them first.
		IdleConnTimeout: 45 * time.Second,
	}
	if opts.WrapTransport != nil {
		transport = opts.WrapTransport(transport)
	}
	p.http = &http.Client{
		Transport: transport,
		// A sidecar never redirects; whoever does is not one, and gets no token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p
}

// Sidecar implements Dialer.
func (p *Pool) Sidecar(t Target) Sidecar { return &remote{pool: p, target: t} }

// CloseIdle closes connections that nobody uses.
func (p *Pool) CloseIdle() { p.http.CloseIdleConnections() }
