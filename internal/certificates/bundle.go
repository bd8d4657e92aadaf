package certificates

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// bundle is the authority that issues now, and all that are trusted: itself and its predecessors,
// for as long as they are valid.
type bundle struct {
	issuing *authority
	trusted []*x509.Certificate
	roots   *x509.CertPool
}

func newBundle(now time.Time, before []*x509.Certificate) (*bundle, error) {
	issuing, err := newAuthority(now)
	if err != nil {
		return nil, err
	}
	expired := func(c *x509.Certificate) bool { return now.After(c.NotAfter) }
	return bundleOf(issuing, slices.DeleteFunc(slices.Clone(before), expired)), nil
}

func bundleOf(issuing *authority, others []*x509.Certificate) *bundle {
	b := &bundle{issuing: issuing, trusted: []*x509.Certificate{issuing.certificate}, roots: x509.NewCertPool()}
	for _, c := range others {
		if !c.Equal(issuing.certificate) {
			b.trusted = append(b.trusted, c)
		}
	}
	for _, c := range b.trusted {
		b.roots.AddCert(c)
	}
	return b
}

// due reports whether it is time for a new authority to issue certificates.
func (b *bundle) due(now time.Time) bool {
	return !now.Before(RenewAt(b.issuing.certificate.NotBefore, b.issuing.certificate.NotAfter))
}

func (b *bundle) trusts(issuer string) bool {
	return slices.ContainsFunc(b.trusted, func(c *x509.Certificate) bool { return idOf(c) == issuer })
}

// data returns the content of the bundle's Secret.
func (b *bundle) data() (map[string][]byte, error) {
	key, err := encodeKey(b.issuing.key)
	if err != nil {
		return nil, err
	}
	var trusted []byte
	for _, c := range b.trusted {
		trusted = append(trusted, encodeCertificate(c)...)
	}
	return map[string][]byte{
		corev1.TLSCertKey: encodeCertificate(b.issuing.certificate), corev1.TLSPrivateKeyKey: key, corev1.ServiceAccountRootCAKey: trusted,
	}, nil
}

// parseBundle reads the content of a bundle's Secret.
func parseBundle(data map[string][]byte) (*bundle, error) {
	pair, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s holds a %T", corev1.TLSPrivateKeyKey, pair.PrivateKey)
	}
	if !pair.Leaf.IsCA {
		return nil, fmt.Errorf("%s is not that of a certificate authority", corev1.TLSCertKey)
	}
	trusted, err := parseCertificates(data[corev1.ServiceAccountRootCAKey])
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", corev1.ServiceAccountRootCAKey, err)
	}
	return bundleOf(&authority{certificate: pair.Leaf, key: key}, trusted), nil
}

func parseCertificates(content []byte) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for len(content) > 0 {
		var block *pem.Block
		if block, content = pem.Decode(content); block == nil {
			return nil, errors.New("it is no PEM")
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
}
