package client

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// The kinds of error a caller may want to tell apart with errors.Is.
var (
	// ErrUnreachable: no answer, or none that a sidecar would give. Whether a
	// submitted task was accepted is not known.
	ErrUnreachable = errors.New("sidecar is unreachable")
	// ErrNotReady: the sidecar cannot do this now; the same call may succeed later.
	ErrNotReady = errors.New("sidecar is not ready")
	// ErrUnauthorized: the token was not accepted.
	ErrUnauthorized = errors.New("sidecar rejects the credentials")
	// ErrNoToken: there is no token to show. The sidecar was not called.
	ErrNoToken = errors.New("no token for the sidecar")
	// ErrSharedAudience: the sidecar accepts the tokens of all nodes, and may not be called for
	// that. It was not.
	ErrSharedAudience = errors.New("sidecar knows the shared token audience only")
	// ErrPlaintext: the sidecar speaks plain HTTP, and may not be called for that. It was not.
	ErrPlaintext = errors.New("sidecar does not speak TLS")
	// ErrCertificate: whoever answers at this address does not prove that it is the node's sidecar.
	// Nothing was said to it. It is a CertificateError.
	ErrCertificate = errors.New("sidecar cannot prove its identity")
	// ErrNotFound: there is no such task, or the sidecar is too old for the call.
	ErrNotFound = errors.New("task not found")
	// ErrInvalid: the request is wrong and will stay wrong.
	ErrInvalid = errors.New("sidecar rejects the request")
	// ErrConflict: the id belongs to a task of another type.
	ErrConflict = errors.New("task id is taken")
	// ErrWrongNode: another node's sidecar answers at this address.
	ErrWrongNode = errors.New("another node's sidecar answered")
)

// CertificateError is why a sidecar was not trusted.
type CertificateError struct {
	// Problem stays the same while the cause does.
	Problem string
	err     error
}

// Error implements error.
func (e *CertificateError) Error() string {
	if e.err == nil {
		return e.Problem
	}
	return e.Problem + ": " + e.err.Error()
}

// Unwrap gives the kind of the error, and what it is made of.
func (e *CertificateError) Unwrap() []error { return []error{ErrCertificate, e.err} }

// Error is an answer that is not a success.
type Error struct {
	// Call is what was asked for, for example "POST /v0/tasks".
	Call string
	// Status is the HTTP status.
	Status int
	// Message and Detail are the sidecar's own words; Detail may be nil.
	Message string
	Detail  *api.ErrorDetail
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %d %s", e.Call, e.Status, e.Message)
	if e.Detail != nil && e.Detail.Hint != "" {
		text += " (" + e.Detail.Hint + ")"
	}
	return text
}

// Unwrap gives the kind of the error.
func (e *Error) Unwrap() error { return kindOf(e.Status) }

func kindOf(status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrUnauthorized
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusConflict:
		return ErrConflict
	case http.StatusMisdirectedRequest:
		return ErrWrongNode
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return ErrNotReady
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return ErrUnreachable
	}
	if status >= 400 && status < 500 {
		return ErrInvalid
	}
	return nil
}
