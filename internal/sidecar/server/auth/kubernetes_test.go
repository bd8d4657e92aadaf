package auth

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	clocktesting "k8s.io/utils/clock/testing"
)

func request(t *testing.T, token string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v0/tasks", nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

// reasonOf runs the token past k: "" means it was let in.
func reasonOf(t *testing.T, k *Kubernetes, token string) string {
	t.Helper()
	caller, err := k.Authenticate(request(t, token))
	if err == nil {
		if caller != operator {
			t.Fatalf("let in as %q", caller)
		}
		return ""
	}
	rejection, ok := errors.AsType[*RejectionError](err)
	if !ok {
		t.Fatalf("not a rejection: %v", err)
	}
	return rejection.Reason
}

func kubernetesAt(s *apiServer) (*Kubernetes, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(startOfTime)
	return &Kubernetes{Keys: s.cluster(clock), Audience: "sei-sidecar", Subjects: []string{operator}, Clock: clock}, clock
}

func TestKubernetes_TokensThatAreRefused(t *testing.T) {
	own, ec := newRSAKey(t, "own"), newECKey(t, "ec")
	foreign := newECKey(t, "ec") // claims an id that is known
	k, _ := kubernetesAt(newAPIServer(t, own, ec))
	public, err := x509.MarshalPKIXPublicKey(own.private.Public())
	if err != nil {
		t.Fatal(err)
	}
	signed := func(claims map[string]any) string { return sign(t, own.alg, own.private, own.id, claims) }
	for name, tc := range map[string]struct {
		token  string
		status int
		reason string
	}{
		"none":              {"", http.StatusUnauthorized, "missing_token"},
		"no JWT":            {"hello", http.StatusUnauthorized, "malformed_token"},
		"expired":           {signed(good(with("exp", startOfTime.Add(-time.Second).Unix()))), http.StatusUnauthorized, "expired"},
		"without an end":    {signed(good(func(c map[string]any) { delete(c, "exp") })), http.StatusUnauthorized, "expired"},
		"not yet valid":     {signed(good(with("nbf", startOfTime.Add(time.Hour).Unix()))), http.StatusUnauthorized, "invalid_claims"},
		"other audience":    {signed(good(with("aud", []string{"https://kubernetes.default.svc"}))), http.StatusUnauthorized, "wrong_audience"},
		"no audience":       {signed(good(func(c map[string]any) { delete(c, "aud") })), http.StatusUnauthorized, "wrong_audience"},
		"other issuer":      {signed(good(with("iss", "https://elsewhere"))), http.StatusUnauthorized, "wrong_issuer"},
		"other subject":     {signed(good(with("sub", "system:serviceaccount:default:default"))), http.StatusForbidden, "wrong_subject"},
		"no subject":        {signed(good(func(c map[string]any) { delete(c, "sub") })), http.StatusForbidden, "wrong_subject"},
		"foreign key":       {sign(t, foreign.alg, foreign.private, "ec", good()), http.StatusUnauthorized, "bad_signature"},
		"unknown key":       {sign(t, foreign.alg, foreign.private, "nobody's", good()), http.StatusUnauthorized, "unknown_key"},
		"unsigned":          {unsigned(t, good()), http.StatusUnauthorized, "unsupported_algorithm"},
		"public key as MAC": {sign(t, jose.HS256, public, own.id, good()), http.StatusUnauthorized, "unsupported_algorithm"},
		"changed claims":    {tampered(signed(good(with("sub", "nobody")))), http.StatusUnauthorized, "bad_signature"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := k.Authenticate(request(t, tc.token))
			rejection, ok := errors.AsType[*RejectionError](err)
			if !ok {
				t.Fatalf("got %v, want a rejection", err)
			}
			if rejection.Status != tc.status || rejection.Reason != tc.reason || rejection.Message == "" {
				t.Errorf("%+v, want Status %v, Reason %v and Message not empty", rejection, tc.status, tc.reason)
			}
		})
	}
}

func unsigned(t *testing.T, claims map[string]any) string {
	t.Helper()
	part := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	return part(map[string]string{"alg": "none", "typ": "JWT"}) + "." + part(claims) + "."
}

// tampered puts the operator's subject into a token for somebody else.
func tampered(token string) string {
	parts := strings.Split(token, ".")
	raw, _ := base64.RawURLEncoding.DecodeString(parts[1])
	raw = []byte(strings.Replace(string(raw), `"nobody"`, `"`+operator+`"`, 1))
	parts[1] = base64.RawURLEncoding.EncodeToString(raw)
	return strings.Join(parts, ".")
}

func TestKubernetes_OperatorsToken_IsAccepted(t *testing.T) {
	for _, own := range []key{newRSAKey(t, "a"), newECKey(t, "b")} {
		k, _ := kubernetesAt(newAPIServer(t, own))
		if reason := reasonOf(t, k, sign(t, own.alg, own.private, own.id, good())); reason != "" {
			t.Errorf("%s: %s, want empty", own.alg, reason)
		}
	}
}

func TestKubernetes_TwoTokensInOneRequest_AreRefused(t *testing.T) {
	own := newRSAKey(t, "a")
	k, _ := kubernetesAt(newAPIServer(t, own))
	r := request(t, sign(t, own.alg, own.private, own.id, good()))
	r.Header.Add("Authorization", "Bearer x")
	if _, err := k.Authenticate(r); err == nil {
		t.Error("let in")
	}
}

func TestKubernetes_RotatedKey_IsFoundWithoutARestart(t *testing.T) {
	before, after := newRSAKey(t, "before"), newECKey(t, "after")
	server := newAPIServer(t, before)
	k, clock := kubernetesAt(server)
	oldToken := sign(t, before.alg, before.private, before.id, good())
	newToken := sign(t, after.alg, after.private, after.id, good())
	if reason := reasonOf(t, k, oldToken); reason != "" {
		t.Fatal(reason)
	}
	server.publish(after, before)
	clock.Step(pauseWithKeys)
	if reason := reasonOf(t, k, newToken); reason != "" {
		t.Fatalf("new key: %s", reason)
	}
	if reason := reasonOf(t, k, oldToken); reason != "" {
		t.Fatalf("old key, still published: %s", reason)
	}
}

func TestKubernetes_DroppedKey_IsRefusedOnceKeysAreOld(t *testing.T) {
	before, after := newRSAKey(t, "before"), newECKey(t, "after")
	server := newAPIServer(t, before)
	k, clock := kubernetesAt(server)
	token := sign(t, before.alg, before.private, before.id, good())
	if reason := reasonOf(t, k, token); reason != "" {
		t.Fatal(reason)
	}
	server.publish(after)
	clock.Step(keysMaxAge + time.Second)
	deadline := time.Now().Add(time.Minute)
	for reasonOf(t, k, token) != "unknown_key" { // keys are read again in the background
		if time.Now().After(deadline) {
			t.Fatal("a dropped key is accepted for ever")
		}
	}
}

func TestKubernetes_InventedKeyIDs_DoNotLoadTheAPIServer(t *testing.T) {
	own, other := newRSAKey(t, "own"), newECKey(t, "other")
	server := newAPIServer(t, own)
	k, clock := kubernetesAt(server)
	for range 50 {
		if reason := reasonOf(t, k, sign(t, other.alg, other.private, "invented", good())); reason != "unknown_key" {
			t.Fatal(reason)
		}
	}
	if n := server.readCount(); n != 1 {
		t.Errorf("keys were read %d times", n)
	}
	clock.Step(pauseWithKeys)
	reasonOf(t, k, sign(t, other.alg, other.private, "invented", good()))
	if n := server.readCount(); n != 2 {
		t.Errorf("after the pause keys were read %d times", n)
	}
}

func TestKubernetes_APIServerAway_CachedKeysKeepWorking(t *testing.T) {
	own := newRSAKey(t, "own")
	server := newAPIServer(t, own)
	k, clock := kubernetesAt(server)
	token := sign(t, own.alg, own.private, own.id, good())
	if reason := reasonOf(t, k, token); reason != "" {
		t.Fatal(reason)
	}
	server.setDown(true)
	clock.Step(keysMaxAge + time.Minute)
	for range 20 {
		if reason := reasonOf(t, k, token); reason != "" {
			t.Fatal(reason)
		}
	}
}

func TestKubernetes_NoKeysYet_NobodyIsLetInUntilTheAPIServerAnswers(t *testing.T) {
	own := newRSAKey(t, "own")
	server := newAPIServer(t, own)
	server.setDown(true)
	k, clock := kubernetesAt(server)
	token := sign(t, own.alg, own.private, own.id, good())
	_, err := k.Authenticate(request(t, token))
	if rejection, ok := errors.AsType[*RejectionError](err); !ok || rejection.Status != http.StatusServiceUnavailable || rejection.Reason != "keys_unavailable" {
		t.Fatalf("%v, want a rejection with Status %v and Reason %q", err, http.StatusServiceUnavailable, "keys_unavailable")
	}
	server.setDown(false)
	clock.Step(pauseWithoutKeys)
	if reason := reasonOf(t, k, token); reason != "" {
		t.Error(reason)
	}
}

func TestCluster_WithoutItsFiles_SaysWhich(t *testing.T) {
	server := newAPIServer(t, newRSAKey(t, "own"))
	for name, damage := range map[string]func(*Cluster){
		"no CA":    func(c *Cluster) { c.CAFile = "/nonexistent/ca.crt" },
		"empty CA": func(c *Cluster) { _ = os.WriteFile(c.CAFile, nil, 0o600) },
		"no token": func(c *Cluster) { c.TokenFile = "/nonexistent/token" },
		"wrong token": func(c *Cluster) {
			_ = os.WriteFile(c.TokenFile, []byte("other"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := server.cluster(clocktesting.NewFakeClock(startOfTime))
			damage(c)
			if _, _, err := c.Lookup(t.Context(), "own"); err == nil || errors.Is(err, ErrUnknownKey) {
				t.Errorf("got %v, want an error and not %v", err, ErrUnknownKey)
			} else {
				t.Log(err)
			}
		})
	}
}

func TestTrustedHeader_FollowsTheContract(t *testing.T) {
	for name, tc := range map[string]struct {
		values          []string
		reason, message string
	}{
		"one":     {values: []string{"alice"}},
		"missing": {nil, "missing_header", "missing X-Remote-User header"},
		"two":     {[]string{"a", "b"}, "duplicate_header", "expected exactly one X-Remote-User header — proxy must overwrite, not append"},
		"empty":   {[]string{""}, "empty_header", "empty X-Remote-User header"},
		"blank":   {[]string{"  "}, "empty_header", "empty X-Remote-User header"},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(t, "")
			for _, v := range tc.values {
				r.Header.Add(RemoteUserHeader, v)
			}
			caller, err := TrustedHeader{}.Authenticate(r)
			if tc.reason == "" {
				if err != nil || caller != tc.values[0] {
					t.Fatalf("%q %v, want no error and caller %v", caller, err, tc.values[0])
				}
				return
			}
			rejection, ok := errors.AsType[*RejectionError](err)
			if !ok || rejection.Reason != tc.reason || rejection.Message != tc.message || rejection.Status != http.StatusUnauthorized {
				t.Errorf("%+v, want a rejection with Reason %v, Message %v and Status %v", err, tc.reason, tc.message, http.StatusUnauthorized)
			}
		})
	}
}
