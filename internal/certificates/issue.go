package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

const (
	// Lifetime is how long a sidecar's certificate is valid.
	Lifetime = 90 * 24 * time.Hour
	// authorityLifetime is long enough that its last third, in which another authority issues, far
	// exceeds the Lifetime of the last certificate that this one issued.
	authorityLifetime = 2 * 365 * 24 * time.Hour
	// backdated is how far the clock of another replica may be behind.
	backdated = time.Hour
)

const (
	typeCertificate = "CERTIFICATE"
	typeKey         = "PRIVATE KEY"
)

// Issued is a certificate for a sidecar.
type Issued struct {
	// Certificate and Key are in PEM.
	Certificate, Key    []byte
	NotBefore, NotAfter time.Time
	// Issuer names the authority.
	Issuer string
}

// RenewAt returns when a certificate is due for renewal: after two thirds of its validity period.
func RenewAt(notBefore, notAfter time.Time) time.Time {
	return notBefore.Add(notAfter.Sub(notBefore) / 3 * 2)
}

// IssuedAt returns when a certificate was issued that is valid from notBefore.
func IssuedAt(notBefore time.Time) time.Time { return notBefore.Add(backdated) }

// authority is a certificate authority.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// idOf returns an id for an authority's certificate.
func idOf(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.Raw)
	return hex.EncodeToString(sum[:8])
}

func newAuthority(now time.Time) (*authority, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "sei-operator sidecars"},
		NotBefore:             now.Add(-backdated),
		NotAfter:              now.Add(authorityLifetime),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	certificate, err := sign(template, &authority{certificate: template, key: key}, key)
	if err != nil {
		return nil, err
	}
	return &authority{certificate: certificate, key: key}, nil
}

// issue issues a certificate that proves a server's name and nothing else.
func (a *authority) issue(name string, now time.Time) (*Issued, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	template := &x509.Certificate{
		DNSNames:    []string{name},
		NotBefore:   now.Add(-backdated),
		NotAfter:    earlier(now.Add(Lifetime), a.certificate.NotAfter),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	certificate, err := sign(template, a, key)
	if err != nil {
		return nil, err
	}
	encoded, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	return &Issued{
		Certificate: encodeCertificate(certificate), Key: encoded,
		NotBefore: certificate.NotBefore, NotAfter: certificate.NotAfter, Issuer: idOf(a.certificate),
	}, nil
}

// sign creates a certificate from a template, with a random serial number.
func sign(template *x509.Certificate, by *authority, key *ecdsa.PrivateKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("making a serial number: %w", err)
	}
	template.SerialNumber = serial
	raw, err := x509.CreateCertificate(rand.Reader, template, by.certificate, &key.PublicKey, by.key)
	if err != nil {
		return nil, fmt.Errorf("signing a certificate: %w", err)
	}
	return x509.ParseCertificate(raw)
}

func encodeCertificate(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: typeCertificate, Bytes: c.Raw})
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: typeKey, Bytes: raw}), nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
