package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"k8s.io/utils/clock"
)

// algorithms that API servers sign with. Symmetric ones and "none" are not among
// them.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512}

// Keys finds the issuer of the cluster's tokens and the key that signed one.
type Keys interface {
	// Lookup returns an error that wraps ErrUnknownKey when the issuer has no
	// such key, and another when that cannot be told.
	Lookup(ctx context.Context, keyID string) (issuer string, keys []jose.JSONWebKey, err error)
}

// ErrUnknownKey says that a token was signed with a key the cluster does not have.
var ErrUnknownKey = errors.New("the cluster has no such signing key")

// Kubernetes accepts service-account tokens of this cluster for one audience
// and a few subjects. It asks the API server for keys only, never about a token,
// so the pod it runs in needs no permission.
type Kubernetes struct {
	Keys     Keys
	Audience string
	Subjects []string
	Clock    clock.PassiveClock
}

// Authenticate implements Authenticator.
func (k *Kubernetes) Authenticate(r *http.Request) (string, error) {
	raw, err := bearerToken(r)
	if err != nil {
		return "", err
	}
	keyID, err := keyIDOf(raw)
	if err != nil {
		return "", err
	}
	issuer, keys, err := k.Keys.Lookup(r.Context(), keyID)
	if errors.Is(err, ErrUnknownKey) {
		return "", unauthenticated("unknown_key", "token is signed with a key that the cluster does not have")
	}
	if err != nil {
		return "", &RejectionError{
			Status: http.StatusServiceUnavailable, Reason: "keys_unavailable",
			Message: fmt.Sprintf("cannot verify tokens now: %v", err),
		}
	}
	token, err := k.verify(r.Context(), raw, keys)
	if err != nil {
		return "", err
	}
	return k.admit(token, issuer)
}

// verify checks signature and times.
func (k *Kubernetes) verify(ctx context.Context, raw string, keys []jose.JSONWebKey) (*oidc.IDToken, error) {
	set := &oidc.StaticKeySet{}
	for _, key := range keys {
		set.PublicKeys = append(set.PublicKeys, key.Key)
	}
	// The verifier checks this too, but does not let its cause be told apart.
	if _, err := set.VerifySignature(ctx, raw); err != nil {
		return nil, unauthenticated("bad_signature", "token is not signed with the key it names")
	}
	// Issuer and audience are checked in admit, where each has its own reason.
	verifier := oidc.NewVerifier("", set, &oidc.Config{
		SkipIssuerCheck: true, SkipClientIDCheck: true, Now: k.Clock.Now, SupportedSigningAlgs: algorithmNames(),
	})
	token, err := verifier.Verify(ctx, raw)
	if expired, ok := errors.AsType[*oidc.TokenExpiredError](err); ok {
		return nil, unauthenticated("expired", "token expired at %s", expired.Expiry.UTC())
	}
	if err != nil {
		return nil, unauthenticated("invalid_claims", "token is not valid: %v", err)
	}
	return token, nil
}

// admit checks what a genuine token says.
func (k *Kubernetes) admit(token *oidc.IDToken, issuer string) (string, error) {
	switch {
	case issuer == "" || token.Issuer != issuer:
		return "", unauthenticated("wrong_issuer", "token was issued by %q, not by %q", token.Issuer, issuer)
	case !slices.Contains(token.Audience, k.Audience):
		return "", unauthenticated("wrong_audience", "token is for %q, not for this sidecar", token.Audience)
	case !slices.Contains(k.Subjects, token.Subject):
		return "", &RejectionError{
			Status: http.StatusForbidden, Reason: "wrong_subject",
			Message: fmt.Sprintf("%q may not use this sidecar", token.Subject),
		}
	}
	return token.Subject, nil
}

func bearerToken(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", unauthenticated("missing_token", "missing bearer token")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", unauthenticated("malformed_token", "the Authorization header must be one bearer token")
	}
	return token, nil
}

// keyIDOf reads which key a token claims to be signed with, and refuses tokens
// with other algorithms than ours before any key is looked for.
func keyIDOf(raw string) (string, error) {
	jws, err := jose.ParseSignedCompact(raw, algorithms)
	if _, ok := errors.AsType[*jose.ErrUnexpectedSignatureAlgorithm](err); ok {
		return "", unauthenticated("unsupported_algorithm", "token is not signed with one of %s", algorithmNames())
	}
	if err != nil || len(jws.Signatures) != 1 {
		return "", unauthenticated("malformed_token", "bearer token is no signed JWT")
	}
	return jws.Signatures[0].Protected.KeyID, nil
}

func algorithmNames() []string {
	names := make([]string, 0, len(algorithms))
	for _, a := range algorithms {
		names = append(names, string(a))
	}
	return names
}
