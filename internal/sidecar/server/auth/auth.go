// Package auth decides who a request to the sidecar comes from. It knows tokens
// and headers, not tasks: every caller that passes may do everything.
package auth

import (
	"fmt"
	"net/http"
	"strings"
)

// Authenticator names the caller of a request, or returns a *RejectionError.
type Authenticator interface {
	Authenticate(r *http.Request) (caller string, err error)
}

// RejectionError is a request that was turned away.
type RejectionError struct {
	// Status is the HTTP status to answer with.
	Status int
	// Reason is a short word for metrics.
	Reason string
	// Message says what is wrong.
	Message string
}

// Error implements error.
func (r *RejectionError) Error() string { return r.Message }

func unauthenticated(reason, format string, args ...any) *RejectionError {
	return &RejectionError{Status: http.StatusUnauthorized, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Open lets everybody in. It is for tests on a loopback address.
type Open struct{}

// Authenticate implements Authenticator.
func (Open) Authenticate(*http.Request) (string, error) { return "anonymous", nil }

// RemoteUserHeader carries the caller that an authenticating proxy in front of
// the sidecar has verified.
const RemoteUserHeader = "X-Remote-User"

// TrustedHeader believes the proxy in front of the sidecar. It is safe only on a
// loopback address.
type TrustedHeader struct{}

// Authenticate implements Authenticator.
func (TrustedHeader) Authenticate(r *http.Request) (string, error) {
	values := r.Header.Values(RemoteUserHeader)
	switch {
	case len(values) == 0:
		return "", unauthenticated("missing_header", "missing %s header", RemoteUserHeader)
	case len(values) > 1:
		return "", unauthenticated("duplicate_header",
			"expected exactly one %s header — proxy must overwrite, not append", RemoteUserHeader)
	case strings.TrimSpace(values[0]) == "":
		return "", unauthenticated("empty_header", "empty %s header", RemoteUserHeader)
	}
	return values[0], nil
}
