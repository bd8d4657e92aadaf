package pki

import (
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func load(t *testing.T, dir, name string) *x509.Certificate {
	t.Helper()
	files := FilesOf(dir, name)
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatalf("loading %s: %v", name, err)
	}
	return pair.Leaf
}

func TestAuthority_IssuesCertificatesThatVerify(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	authority, err := NewAuthority(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.Server("api", now, []string{"kubernetes"}, []netip.Addr{netip.MustParseAddr("198.18.0.2")}); err != nil {
		t.Fatal(err)
	}
	if err := authority.Client("admin", "someone", now, "some-group"); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(load(t, dir, "ca"))
	for _, host := range []string{"kubernetes", "198.18.0.2"} {
		if _, err := load(t, dir, "api").Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("verifying %s: %v", host, err)
		}
	}
	client := load(t, dir, "admin")
	if _, err := client.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("verifying the client: %v", err)
	}
	if _, err := client.Verify(x509.VerifyOptions{Roots: roots}); err == nil {
		t.Error("a client certificate serves as a server's")
	}
	got := append([]string{client.Subject.CommonName}, client.Subject.Organization...)
	if diff := cmp.Diff([]string{"someone", "some-group"}, got); diff != "" {
		t.Errorf("user and groups (-want +got):\n%s", diff)
	}
}

func TestAuthority_KeysAreForTheirOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	authority, err := NewAuthority(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.SigningKey("tokens"); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"ca.key", "tokens.key"} {
		info, err := os.Stat(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %s", file, info.Mode())
		}
	}
}
