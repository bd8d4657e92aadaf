// Package pki makes the keys and certificates of a local cluster: one authority, a serving certificate and a
// client certificate per component. They live as long as the state folder and are good for nothing else.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// validity is long enough for any demo; a cluster is recreated rather than renewed.
const validity = 365 * 24 * time.Hour

// Authority signs the cluster's certificates.
type Authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	dir  string
}

// Files are the paths of a certificate and its key.
type Files struct{ Cert, Key string }

// FilesOf names the files a certificate is kept in.
func FilesOf(dir, name string) Files {
	return Files{Cert: filepath.Join(dir, name+".crt"), Key: filepath.Join(dir, name+".key")}
}

// NewAuthority makes an authority and writes it as ca.crt and ca.key.
func NewAuthority(dir string, now time.Time) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the certificate folder: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the authority's key: %w", err)
	}
	self := template(pkix.Name{CommonName: "local-cluster"}, now)
	self.IsCA, self.BasicConstraintsValid = true, true
	self.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	a := &Authority{cert: self, key: key, dir: dir}
	cert, err := a.sign("ca", self, key)
	if err != nil {
		return nil, err
	}
	a.cert = cert
	return a, nil
}

// Client writes a client certificate: the user is the common name, the groups are the organisations.
func (a *Authority) Client(name, user string, now time.Time, groups ...string) error {
	t := template(pkix.Name{CommonName: user, Organization: groups}, now)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(name, t)
}

// Server writes a serving certificate for the given names and addresses.
func (a *Authority) Server(name string, now time.Time, hosts []string, ips []netip.Addr) error {
	t := template(pkix.Name{CommonName: name}, now)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	t.DNSNames = hosts
	for _, ip := range ips {
		t.IPAddresses = append(t.IPAddresses, net.IP(ip.AsSlice()))
	}
	return a.issue(name, t)
}

// SigningKey writes a bare key pair, name.key and name.pub, for tokens.
func (a *Authority) SigningKey(name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making the key %s: %w", name, err)
	}
	if err := a.writeKey(name, key); err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encoding the public key %s: %w", name, err)
	}
	return a.write(name+".pub", "PUBLIC KEY", public)
}

func (a *Authority) issue(name string, t *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making the key %s: %w", name, err)
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	_, err = a.sign(name, t, key)
	return err
}

func (a *Authority) sign(name string, t *x509.Certificate, key *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate %s: %w", name, err)
	}
	if err := a.writeKey(name, key); err != nil {
		return nil, err
	}
	if err := a.write(name+".crt", "CERTIFICATE", der); err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading back the certificate %s: %w", name, err)
	}
	return cert, nil
}

func (a *Authority) writeKey(name string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding the key %s: %w", name, err)
	}
	return a.write(name+".key", "EC PRIVATE KEY", der)
}

func (a *Authority) write(file, kind string, der []byte) error {
	block := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(filepath.Join(a.dir, file), block, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

// template dates certificates back an hour, so that a clock set back slightly does not break the cluster.
func template(subject pkix.Name, now time.Time) *x509.Certificate {
	serial := make([]byte, 16)
	_, _ = rand.Read(serial) // never fails, by its contract
	return &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial),
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(validity),
	}
}
