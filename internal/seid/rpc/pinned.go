package rpc

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
)

// WithCertificate makes the client talk TLS to a server that has exactly the certificate
// in this file. A node is asked by the address of its loopback, which no certificate
// names, and its certificate may be signed by nobody; the file is what it was told to show.
// The file is read at each connection, because a certificate may be renewed.
func WithCertificate(file string) Option {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the certificate itself
			VerifyConnection:   func(state tls.ConnectionState) error { return samePeer(file, state.PeerCertificates) },
		},
		// A client lives for a few calls; kept connections would pile up.
		DisableKeepAlives: true,
	}
	return WithHTTPClient(&http.Client{Transport: transport})
}

func samePeer(file string, shown []*x509.Certificate) error {
	data, err := os.ReadFile(file) //nolint:gosec // named by the node's own configuration
	if err != nil {
		return fmt.Errorf("reading the RPC certificate: %w", err)
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		own, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return fmt.Errorf("reading the RPC certificate: %w", err)
		}
		if len(shown) > 0 && shown[0].Equal(own) {
			return nil
		}
		return errors.New("the server shows another certificate than the one in tls-cert-file")
	}
	return fmt.Errorf("reading the RPC certificate: %s holds none", file)
}
