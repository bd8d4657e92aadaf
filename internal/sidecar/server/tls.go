package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// GetCertificate gives the certificate for a handshake.
type GetCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// recordHandshake is the first byte of a client that speaks TLS. No HTTP request begins with it.
const recordHandshake = 0x16

// WithTLS has connections of a listener speak TLS if their client begins so, and leaves the others as
// they are: probes of the kubelet and the gate ask in the clear, on the same port.
func WithTLS(l net.Listener, certificate GetCertificate) net.Listener {
	return &eitherListener{Listener: l, config: &tls.Config{
		GetCertificate: certificate, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
	}}
}

type eitherListener struct {
	net.Listener

	config *tls.Config
}

// Accept implements net.Listener.
func (l *eitherListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &eitherConn{Conn: conn, config: l.config}, nil
}

// eitherConn finds out with its first read whether it speaks TLS. That read is bounded by the
// deadline of a request's header, like any other.
type eitherConn struct {
	net.Conn

	config *tls.Config
	begin  sync.Once
	err    error
	// unread is what Read reads from unless the connection speaks TLS. Nobody else touches it.
	unread net.Conn
	// secure is nil unless the connection speaks TLS.
	secure atomic.Pointer[tls.Conn]
}

func (c *eitherConn) peek() {
	first := make([]byte, 1)
	var n int
	if n, c.err = c.Conn.Read(first); n == 0 {
		return
	}
	c.err = nil
	c.unread = &unreadConn{Conn: c.Conn, unread: first}
	if first[0] == recordHandshake {
		c.secure.Store(tls.Server(c.unread, c.config))
	}
}

// Read implements net.Conn.
func (c *eitherConn) Read(p []byte) (int, error) {
	c.begin.Do(c.peek)
	if c.err != nil {
		return 0, c.err
	}
	if secure := c.secure.Load(); secure != nil {
		return secure.Read(p)
	}
	return c.unread.Read(p)
}

// Write implements net.Conn.
func (c *eitherConn) Write(p []byte) (int, error) {
	if secure := c.secure.Load(); secure != nil {
		return secure.Write(p)
	}
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *eitherConn) Close() error {
	if secure := c.secure.Load(); secure != nil {
		return secure.Close()
	}
	return c.Conn.Close()
}

// unreadConn gives back the bytes that were read to find out what it speaks.
type unreadConn struct {
	net.Conn

	unread []byte
}

// Read implements net.Conn.
func (c *unreadConn) Read(p []byte) (int, error) {
	if len(c.unread) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

type connKey struct{}

// ConnContext notes the connection that requests come by, for an http.Server.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// overTLS reports whether a request came over TLS.
func overTLS(r *http.Request) bool {
	conn, ok := r.Context().Value(connKey{}).(*eitherConn)
	return ok && conn.secure.Load() != nil
}
