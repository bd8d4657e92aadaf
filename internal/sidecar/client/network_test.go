package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
)

// network is one in memory, for tests that run in a bubble of synctest: there nothing happens
// because a machine is slow. A goroutine that waits at a real socket would stop the bubble's clock.
type network struct {
	mu      sync.Mutex
	servers map[string]listener
	dialled int
}

// serve starts a server that answers with handler until the test ends, and gives its address.
func (n *network) serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.servers == nil {
		n.servers = map[string]listener{}
	}
	l := listener{address(fmt.Sprintf("sidecar-%d:7777", len(n.servers))), make(chan net.Conn), make(chan struct{})}
	n.servers[string(l.address)] = l
	srv := &http.Server{Handler: handler}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return string(l.address)
}

// pool is a Pool whose connections are those of the network.
func (n *network) pool(t *testing.T, opts Options) *Pool {
	t.Helper()
	pool := NewPool(opts)
	pool.http.Transport.(*http.Transport).DialContext = n.dial
	t.Cleanup(pool.CloseIdle)
	return pool
}

// connections is how many were made.
func (n *network) connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dialled
}

func (n *network) dial(ctx context.Context, _, to string) (net.Conn, error) {
	n.mu.Lock()
	n.dialled++
	l, listens := n.servers[to]
	n.mu.Unlock()
	if !listens {
		return nil, fmt.Errorf("nobody listens at %s", to)
	}
	here, there := net.Pipe()
	select {
	case l.accepted <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// listener is where a server of a network takes its connections from.
type listener struct {
	address
	accepted chan net.Conn
	closed   chan struct{}
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.accepted:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. A server calls it once.
func (l listener) Close() error { close(l.closed); return nil }

// Addr implements net.Listener.
func (l listener) Addr() net.Addr { return l.address }

// address is a net.Addr.
type address string

func (address) Network() string  { return "memory" }
func (a address) String() string { return string(a) }
