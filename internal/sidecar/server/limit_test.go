package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"testing"
	"time"
)

// serveLimited serves on loopback as the sidecar does, and gives its address.
func serveLimited(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	go func() { ended <- Serve(ctx, l, handler, nil, slog.New(slog.DiscardHandler), 0) }()
	t.Cleanup(func() { cancel(); <-ended })
	return l.Addr().String()
}

// connect opens a connection from a loopback address of its own.
func connect(t *testing.T, from, to string) net.Conn {
	t.Helper()
	local := &net.TCPAddr{IP: net.ParseIP(from)}
	conn, err := (&net.Dialer{LocalAddr: local}).DialContext(t.Context(), "tcp4", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// answered reports whether a connection is served; one beyond the limits is closed without a word.
func answered(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if _, err := fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return false
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	_, err := conn.Read(make([]byte, 1))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("neither answered nor closed within a minute")
	}
	return err == nil
}

func TestServe_WhoTakesAllOfOneAddress_LocksNobodyElseOut(t *testing.T) {
	address := serveLimited(t)
	conns := make([]net.Conn, maxConnsPerAddress)
	for i := range conns {
		if conns[i] = connect(t, "127.0.0.2", address); !answered(t, conns[i]) {
			t.Fatalf("connection %d is closed", i)
		}
	}
	if answered(t, connect(t, "127.0.0.2", address)) {
		t.Errorf("more than %d connections from one address", maxConnsPerAddress)
	}
	if !answered(t, connect(t, "127.0.0.3", address)) {
		t.Error("another address is locked out")
	}
	_ = conns[0].Close()
	for deadline := time.Now().Add(time.Minute); !answered(t, connect(t, "127.0.0.2", address)); {
		if time.Now().After(deadline) {
			t.Fatal("a connection that was closed makes no room")
		}
	}
}

func TestLimited_TotalIsBounded_AndLeavingIsCountedOnce(t *testing.T) {
	l := newLimited(nil)
	for i := range maxConns {
		if !l.enter(netip.AddrFrom4([4]byte{10, 0, byte(i / 16), byte(i % 16)})) {
			t.Fatalf("connection %d is refused", i)
		}
	}
	other := netip.MustParseAddr("192.0.2.1")
	if l.enter(other) {
		t.Error("more connections than there may be")
	}
	client, server := net.Pipe()
	defer func() { _ = client.Close() }()
	first := netip.AddrFrom4([4]byte{10, 0, 0, 0})
	conn := &limitedConn{Conn: server, leave: func() { l.leave(first) }}
	if err := conn.Close(); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Fatal(err)
	}
	if !l.enter(other) || l.enter(other) {
		t.Error("one connection left, so one more fits")
	}
	if _, kept := l.byAddress[first]; kept {
		t.Error("an address without connections is kept")
	}
}
