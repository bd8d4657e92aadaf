package api

import (
	"errors"
	"fmt"
)

// ErrorBody is the body of every answer that is not a success.
type ErrorBody struct {
	Error       string       `json:"error"`
	ErrorDetail *ErrorDetail `json:"errorDetail,omitempty"`
}

// ErrorDetail tells a caller what went wrong in a form a program can act on.
type ErrorDetail struct {
	// Code is a stable CamelCase word, for example InvalidParams.
	Code string `json:"code"`
	// Retryable: the same request may succeed later without any change.
	Retryable bool `json:"retryable"`
	// Terminal: no number of retries helps; the inputs have to change.
	Terminal bool `json:"terminal"`
	// Field is the path of the parameter at fault, for example "accounts[2].balance".
	Field string `json:"field,omitempty"`
	// Hint says in words what to do.
	Hint string `json:"hint,omitempty"`
}

// The stable error codes.
const (
	CodeInvalidParams     = "InvalidParams"
	CodeNotFound          = "NotFound"
	CodeUnavailable       = "Unavailable"
	CodePrecondition      = "PreconditionFailed"
	CodeIntegrity         = "IntegrityCheckFailed"
	CodeInternal          = "Internal"
	CodeConflict          = "Conflict"
	CodeWrongNode         = "WrongNode"
	CodeUnauthenticated   = "Unauthenticated"
	CodeForbidden         = "Forbidden"
	CodeStoreFailed       = "StoreFailed"
	CodeSuperseded        = "SupersededByHold"
	CodeTransactionFailed = "TransactionFailed"
)

// Error is an error that carries its ErrorDetail.
type Error struct {
	Detail ErrorDetail
	Err    error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// WithHint returns the same error with words on what to do.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Detail.Hint = fmt.Sprintf(format, args...)
	return e
}

// InvalidField is a terminal error about one parameter.
func InvalidField(field, format string, args ...any) *Error {
	return &Error{
		Detail: ErrorDetail{Code: CodeInvalidParams, Terminal: true, Field: field},
		Err:    fmt.Errorf("%s: %w", field, fmt.Errorf(format, args...)),
	}
}

// Retryable marks err as one that may go away by itself.
func Retryable(code string, err error) *Error {
	return &Error{Detail: ErrorDetail{Code: code, Retryable: true}, Err: err}
}

// Terminal marks err as one that retries cannot cure.
func Terminal(code string, err error) *Error {
	return &Error{Detail: ErrorDetail{Code: code, Terminal: true}, Err: err}
}

// DetailOf is the detail to show for err: its own if it carries one, and
// otherwise "internal, try again".
func DetailOf(err error) ErrorDetail {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Detail
	}
	return ErrorDetail{Code: CodeInternal, Retryable: true}
}
