package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// The timeouts of the wire contract.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 32 << 10

	// maxWait leaves time to write the answer to a long poll.
	maxWait = writeTimeout - 5*time.Second
)

// Serve answers requests on l until ctx ends, then stops accepting and gives
// the requests under way until grace is over. With a certificate it also speaks TLS.
func Serve(ctx context.Context, l net.Listener, handler http.Handler, certificate GetCertificate, log *slog.Logger, grace time.Duration) error {
	srv := newHTTPServer(handler, log)
	failed := make(chan error, 1)
	accepting := net.Listener(newLimited(l))
	if certificate != nil {
		accepting = WithTLS(accepting, certificate)
	}
	go func() { failed <- srv.Serve(accepting) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := srv.Shutdown(bounded); err != nil {
		return errors.Join(fmt.Errorf("ending requests: %w", err), srv.Close())
	}
	return nil
}

func newHTTPServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ConnContext:       ConnContext,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
