package manager

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// tokenSubject reads which service account a token belongs to. Sidecars are told to
// accept this subject, so it has to be the one that the API server put into the
// token, and not what a flag believes it to be. Nothing is verified: the token is
// our own, and it is the sidecar's task to check it.
func tokenSubject(file string) (string, error) {
	token, err := sidecar.TokenFile(file).Token()
	if err != nil {
		return "", fmt.Errorf("reading the sidecar token: %w", err)
	}
	subject, err := subjectOf(token)
	if err != nil {
		return "", fmt.Errorf("reading the sidecar token in %s: %w", file, err)
	}
	return subject, nil
}

func subjectOf(token string) (string, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", errors.New("it is not a JSON web token")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", errors.New("its claims are not base64")
	}
	var claims struct {
		Subject string `json:"sub"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return "", errors.New("its claims are not JSON")
	}
	if claims.Subject == "" {
		return "", errors.New("it names no subject")
	}
	return claims.Subject, nil
}
