package objectstore

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is what went wrong, as far as a caller has to care.
type Kind string

// The kinds of bucket errors.
const (
	KindNotFound    Kind = "NotFound"
	KindNoBucket    Kind = "NoBucket"
	KindDenied      Kind = "AccessDenied"
	KindUnavailable Kind = "Unavailable"
	KindInvalid     Kind = "Invalid"
	KindTooLarge    Kind = "TooLarge"
	// KindExists: the object is there already and was not to be replaced.
	KindExists Kind = "Exists"
	// KindUnsupported: the store does not know what was asked of it.
	KindUnsupported Kind = "Unsupported"
	KindOther       Kind = "Other"
)

// Error is a bucket operation that did not work.
type Error struct {
	Kind   Kind
	Bucket string
	Key    string
	Op     string
	Err    error
}

// Error implements error.
func (e *Error) Error() string {
	where := e.Bucket
	if e.Key != "" {
		where += "/" + e.Key
	}
	msg := strings.TrimSpace(fmt.Sprintf("%s %s: %v", e.Op, where, e.Err))
	if hint := e.Hint(); hint != "" {
		msg += " [hint: " + hint + "]"
	}
	return msg
}

// Unwrap gives the driver's error.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may work later without any change.
func (e *Error) Retryable() bool {
	return e.Kind == KindUnavailable || e.Kind == KindNotFound || e.Kind == KindOther
}

// Hint says what a person can do.
func (e *Error) Hint() string {
	switch e.Kind {
	case KindNotFound:
		return "the object does not exist (yet); check the chain id and the bucket"
	case KindNoBucket:
		return "the bucket does not exist; check its name and region"
	case KindDenied:
		return "the pod's identity may not do this; check the service account's bucket permissions"
	case KindUnavailable:
		return "the store is busy or unreachable; try again"
	case KindInvalid:
		return "check the bucket address"
	case KindTooLarge:
		return "the object is larger than anything this should be"
	default:
		return ""
	}
}

// KindOf is the kind of err, or "" when it is not a bucket error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
