package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
)

// origin is scheme, host and port of a sidecar's URLs. Connections are kept by it, so for TLS it holds
// both whom a connection was proved to lead to and the address: none is used for anybody else, nor for
// the pod that comes after.
func (t Target) origin() (string, error) {
	if t.ServerName == "" {
		return "http://" + t.Address, nil
	}
	host, port, err := net.SplitHostPort(t.Address)
	if err != nil {
		return "", fmt.Errorf("reading the address of the sidecar: %w", err)
	}
	return "https://" + strings.NewReplacer(".", "-", ":", "-").Replace(host) + "." + t.ServerName + ":" + port, nil
}

type targetKey struct{}

// withTarget tells dialTLS which node a request is for.
func withTarget(ctx context.Context, t Target) context.Context {
	return context.WithValue(ctx, targetKey{}, t)
}

// dialTLS connects to the target of a request and makes sure that it is the one.
func (p *Pool) dialTLS(ctx context.Context, network, _ string) (net.Conn, error) {
	target, ok := ctx.Value(targetKey{}).(Target)
	if !ok || target.ServerName == "" || p.opts.Roots == nil {
		return nil, errors.New("connecting over TLS: the server name or the certificate authority is unknown")
	}
	ctx, cancel := context.WithTimeout(ctx, p.opts.Timeout)
	defer cancel()
	roots, err := p.opts.Roots(ctx)
	if err != nil {
		return nil, &CertificateError{Problem: "the operator has no certificate authority to check it with; its log says why", err: err}
	}
	raw, err := p.dialer.DialContext(ctx, network, target.Address)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, &tls.Config{ServerName: target.ServerName, RootCAs: roots, MinVersion: tls.VersionTLS13})
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(unproved(err), raw.Close())
	}
	return conn, nil
}

// unproved sorts out how a handshake failed.
func unproved(err error) error {
	var problem string
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		problem = "its certificate is from an authority that the operator does not trust"
	} else if _, ok := errors.AsType[x509.HostnameError](err); ok {
		problem = "its certificate is not that of this node"
	} else if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		problem = "its certificate has expired, or is not valid yet"
	} else if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		problem = "its certificate is not valid"
	} else if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		problem = "it does not speak TLS: its image is older than its pod"
	} else if remote, ok := errors.AsType[*net.OpError](err); ok && remote.Op == "remote error" {
		problem = "it has no certificate that it can use"
	} else {
		return fmt.Errorf("connecting over TLS: %w", err)
	}
	return &CertificateError{Problem: problem, err: err}
}
