package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	clocktesting "k8s.io/utils/clock/testing"
)

const (
	issuer   = "https://oidc.cloud.example/id/1"
	podToken = "the-pods-own-token"
	operator = "system:serviceaccount:sei-system:sei-operator"
)

// apiServer is an API server as far as tokens are concerned. It serves its keys
// only to pods that show their token, and its jwks_uri leads nowhere.
type apiServer struct {
	*httptest.Server
	t *testing.T

	mu    sync.Mutex
	keys  []jose.JSONWebKey
	down  bool
	reads int
}

func newAPIServer(t *testing.T, keys ...key) *apiServer {
	t.Helper()
	s := &apiServer{t: t}
	s.publish(keys...)
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.Header.Get("Authorization") != "Bearer "+podToken:
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/.well-known/openid-configuration":
		s.encode(w, map[string]string{"issuer": issuer, "jwks_uri": "https://198.18.0.1/keys"})
	case r.URL.Path == "/openid/v1/jwks":
		s.reads++
		s.encode(w, jose.JSONWebKeySet{Keys: s.keys})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *apiServer) encode(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.t.Error(err)
	}
}

func (s *apiServer) publish(keys ...key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = nil
	for _, k := range keys {
		s.keys = append(s.keys, jose.JSONWebKey{Key: k.private.Public(), KeyID: k.id, Algorithm: string(k.alg), Use: "sig"})
	}
}

func (s *apiServer) setDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func (s *apiServer) readCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// cluster is what a pod of this API server would make.
func (s *apiServer) cluster(clock *clocktesting.FakeClock) *Cluster {
	s.t.Helper()
	dir := s.t.TempDir()
	ca, token := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "token")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(token, []byte(podToken+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return &Cluster{Server: s.URL, CAFile: ca, TokenFile: token, Clock: clock}
}

type signer interface {
	crypto.Signer
}

type key struct {
	id      string
	alg     jose.SignatureAlgorithm
	private signer
}

// rsaKey is made once, because that takes long.
var rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newRSAKey(t *testing.T, id string) key {
	t.Helper()
	k, err := rsaKey()
	if err != nil {
		t.Fatal(err)
	}
	return key{id: id, alg: jose.RS256, private: k}
}

func newECKey(t *testing.T, id string) key {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key{id: id, alg: jose.ES256, private: k}
}

// sign makes a token. Claims that are nil are left out.
func sign(t *testing.T, alg jose.SignatureAlgorithm, with any, keyID string, claims map[string]any) string {
	t.Helper()
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: with},
		(&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", keyID))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := jwt.Signed(s).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

var startOfTime = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// good are the claims of the operator's token.
func good(change ...func(map[string]any)) map[string]any {
	claims := map[string]any{
		"iss": issuer, "sub": operator, "aud": []string{"sei-sidecar"},
		"iat": startOfTime.Unix(), "nbf": startOfTime.Unix(), "exp": startOfTime.Add(time.Hour).Unix(),
	}
	for _, c := range change {
		c(claims)
	}
	return claims
}

func with(name string, value any) func(map[string]any) {
	return func(claims map[string]any) { claims[name] = value }
}
