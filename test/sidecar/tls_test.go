package sidecar_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// A node whose RPC talks TLS, with a certificate that names nobody and that nobody signed,
// is asked by its sidecar like any other.
func TestOneValidator_RPCWithTLS_IsInSync(t *testing.T) {
	v := newNode(t, "tls-1", "v", "")
	writeFiles(t, filepath.Join(v.home, "config"), selfSigned(t))
	ceremony([]*node{v}, map[string]string{"network.rpc.tls_cert_file": "rpc.pem", "network.rpc.tls_key_file": "rpc.key"})
	v.start()
	v.awaitHeight(3)
	v.awaitInSync(http.StatusOK, "")
	if _, err := v.rpc().Status(t.Context()); err == nil {
		t.Error("the RPC answers without TLS, so the test shows nothing")
	}
}

func selfSigned(t *testing.T) map[string]string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"rpc.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		"rpc.key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	}
}
