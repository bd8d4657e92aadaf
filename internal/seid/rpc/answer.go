package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Conditions that callers react to. Use errors.Is.
var (
	// ErrUnreachable: no answer at all. A node that waits for state sync or for
	// its gate does not listen.
	ErrUnreachable = errors.New("node is unreachable")
	// ErrTxNotFound: the node indexes transactions and has no such one (yet).
	ErrTxNotFound = errors.New("transaction not found")
	// ErrTxIndexOff: the node does not index transactions, so it cannot tell.
	// Look through the blocks instead.
	ErrTxIndexOff = errors.New("transaction index is off")
	// ErrTxInCache: these very bytes have been broadcast to this node before.
	ErrTxInCache = errors.New("transaction was broadcast before")
	// ErrHeightTooHigh: the node has not reached the block that was asked for.
	ErrHeightTooHigh = errors.New("height is above the node's")
)

// Error is what the node answered instead of a result.
type Error struct {
	// HTTPStatus is 200 for nearly every error of the real node.
	HTTPStatus int
	// Code is the JSON-RPC error code, or 0 if the answer was no RPC answer.
	Code    int
	Message string
	Data    string
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s (code %d)", e.Message, e.Code)
	if e.Code == 0 {
		text = fmt.Sprintf("HTTP status %d: %s", e.HTTPStatus, e.Message)
	}
	if e.Data != "" {
		text += ": " + e.Data
	}
	return text
}

// Is lets errors.Is find the conditions that the node tells only in words.
func (e *Error) Is(target error) bool {
	data := strings.ToLower(e.Data)
	switch target {
	case ErrTxIndexOff:
		return strings.Contains(data, "kveventsink") || strings.Contains(data, "kv event sink")
	case ErrTxNotFound:
		return strings.Contains(data, "not found")
	case ErrTxInCache:
		return strings.Contains(data, "already exists in cache")
	case ErrHeightTooHigh:
		return strings.Contains(data, "less than or equal to the head")
	}
	return false
}

// wireError is the error object; the node's data is usually, not always, text.
type wireError struct {
	Code    *int            `json:"code"`
	Message *string         `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// isError tells an error object from results that have a code as well, such as
// that of a broadcast: only errors have a message.
func (w *wireError) isError() bool { return w != nil && w.Code != nil && w.Message != nil }

func (w *wireError) toError(status int) *Error {
	var text string
	if err := json.Unmarshal(w.Data, &text); err != nil {
		text = string(w.Data)
	}
	return &Error{HTTPStatus: status, Code: *w.Code, Message: *w.Message, Data: text}
}

// decode finds the result in an answer, with or without an envelope, and
// decodes it into out. A lag report comes with status 417 and is still a result.
func decode(status int, answer []byte, out any) error {
	var envelope struct {
		Version string          `json:"jsonrpc"`
		Result  json.RawMessage `json:"result"`
		Error   *wireError      `json:"error"`
		wireError
	}
	if err := json.Unmarshal(answer, &envelope); err != nil {
		return notRPC(status, answer)
	}
	result := json.RawMessage(answer)
	if envelope.Version != "" {
		if envelope.Error.isError() {
			return envelope.Error.toError(status)
		}
		result = envelope.Result
	} else if envelope.isError() {
		return envelope.toError(status)
	}
	if status >= http.StatusBadRequest && status != http.StatusExpectationFailed {
		return notRPC(status, answer)
	}
	if len(result) == 0 || string(result) == "null" {
		return errors.New("the answer has neither a result nor an error")
	}
	if err := json.Unmarshal(result, out); err != nil {
		return fmt.Errorf("decoding the answer: %w", err)
	}
	return nil
}

// notRPC is the error for an answer by something else than a node: a proxy's
// page, say. Its beginning helps to see by what.
func notRPC(status int, answer []byte) *Error {
	const enough = 200
	text := strings.TrimSpace(string(answer))
	if len(text) > enough {
		text = text[:enough] + "..."
	}
	return &Error{HTTPStatus: status, Message: "not an RPC answer", Data: text}
}
