package rpc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

func TestWithCertificate_TrustsExactlyTheCertificateInTheFile(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"node_info":{"id":"n"},"sync_info":{"latest_block_height":"5","earliest_block_height":"1","max_peer_block_height":"5"}}`)
	}))
	defer srv.Close()
	dir := t.TempDir()
	write := func(name, typ string, der []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	own := srv.Certificate().Raw
	for name, tc := range map[string]struct{ file, want string }{
		"its own":   {write("own", "CERTIFICATE", own), ""},
		"another":   {write("other", "CERTIFICATE", otherCertificate(t)), "another certificate"},
		"only keys": {write("key", "PRIVATE KEY", own), "holds none"},
		"missing":   {filepath.Join(dir, "missing"), "no such file"},
	} {
		// The certificate names example.com; loopback is asked by its address.
		_, err := rpc.New(srv.URL, rpc.WithCertificate(tc.file)).Status(t.Context())
		if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	if _, err := rpc.New(srv.URL).Status(t.Context()); err == nil {
		t.Error("a client without the certificate trusts the server")
	}
}

func otherCertificate(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}
