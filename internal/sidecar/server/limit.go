package server

import (
	"net"
	"net/netip"
	"sync"
)

// How many connections are open at a time. The operator has up to 8 and the kubelet opens one per
// probe, each from an address of its own: who takes all that one address may have locks nobody else
// out.
const (
	maxConns           = 256
	maxConnsPerAddress = 32
)

// limited closes connections beyond the limits at once. Whoever holds many has to be on many
// addresses.
type limited struct {
	net.Listener

	mu        sync.Mutex
	open      int
	byAddress map[netip.Addr]int
}

func newLimited(l net.Listener) *limited {
	return &limited{Listener: l, byAddress: map[netip.Addr]int{}}
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address := addressOf(conn)
		if l.enter(address) {
			return &limitedConn{Conn: conn, leave: sync.OnceFunc(func() { l.leave(address) })}, nil
		}
		_ = conn.Close()
	}
}

func (l *limited) enter(address netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= maxConns || l.byAddress[address] >= maxConnsPerAddress {
		return false
	}
	l.open++
	l.byAddress[address]++
	return true
}

func (l *limited) leave(address netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.byAddress[address]--; l.byAddress[address] == 0 {
		delete(l.byAddress, address)
	}
}

// addressOf is where a connection comes from. Addresses that cannot be told apart share one limit.
func addressOf(conn net.Conn) netip.Addr {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// limitedConn makes room when it is closed.
type limitedConn struct {
	net.Conn

	leave func()
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.leave()
	return c.Conn.Close()
}
