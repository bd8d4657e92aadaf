package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/security"
)

// stolen are the tokens that strangers show to a node, by the names of test/security. Those of the caller itself are not
// among them.
func (s *scenario) stolen(node, other string) map[security.TokenName]string {
	s.t.Helper()
	right := s.sidecarToken(s.sidecarAudience(node))
	tokens := map[security.TokenName]string{
		security.TokenGarbage:    rand.Text(),
		security.TokenOtherNode:  s.sidecarToken(s.sidecarAudience(other)),
		security.TokenNodeBefore: s.sidecarToken(api.NodeAudience(s.namespace, node, uuid.NewString())),
		security.TokenShared:     s.sidecarToken(api.TokenAudience),
		security.TokenAPI:        s.tokenOf(operatorNamespace, "sei-operator"),
		security.TokenRight:      right,
	}
	for _, name := range []security.TokenName{
		security.TokenExpired, security.TokenOtherKey, security.TokenUnknownKey, security.TokenUnsigned, security.TokenOtherIssuer, security.TokenResigned,
	} {
		tokens[name] = s.forge(name, right)
	}
	return tokens
}

// forge changes a genuine token in one thing. The tests own the cluster, and with it the key that its API server signs
// with.
func (s *scenario) forge(name security.TokenName, genuine string) string {
	s.t.Helper()
	parts := strings.Split(genuine, ".")
	var header struct {
		KeyID string `json:"kid"`
	}
	claims := map[string]any{}
	s.decodePart(parts[0], &header)
	s.decodePart(parts[1], &claims)
	key, keyID := s.clusterKey(), header.KeyID
	now := time.Now()
	switch name {
	case security.TokenResigned:
	case security.TokenExpired:
		claims["iat"], claims["nbf"], claims["exp"] = now.Add(-time.Hour).Unix(), now.Add(-time.Hour).Unix(), now.Add(-time.Minute).Unix()
	case security.TokenOtherIssuer:
		claims["iss"] = "https://kubernetes.elsewhere.example"
	case security.TokenOtherKey, security.TokenUnknownKey:
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			s.t.Fatal(err)
		}
		if key = own; name == security.TokenUnknownKey {
			keyID = "a-key-of-mine"
		}
	case security.TokenUnsigned:
		return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"`+keyID+`"}`)) + "." + parts[1] + "."
	default:
		s.t.Fatalf("nobody knows how to come by a token %q", name)
	}
	return s.sign(key, keyID, claims)
}

func (s *scenario) decodePart(part string, into any) {
	s.t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		s.t.Fatalf("reading a token of the API server: %v", err)
	}
}

// clusterKey is what the API server signs tokens with.
func (s *scenario) clusterKey() *ecdsa.PrivateKey {
	s.t.Helper()
	content, err := os.ReadFile(filepath.Join(s.state, "pki", "service-accounts.key"))
	if err != nil {
		s.t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	if block == nil {
		s.t.Fatal("the key of the API server is no PEM")
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		s.t.Fatalf("reading the key of the API server: %v", err)
	}
	return key
}

func (s *scenario) sign(key *ecdsa.PrivateKey, keyID string, claims map[string]any) string {
	s.t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", keyID))
	if err != nil {
		s.t.Fatal(err)
	}
	raw, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}
