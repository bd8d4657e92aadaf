package program

import (
	"encoding/json"
	"errors"

	"github.com/sei-operator/sei-operator/internal/objectstore"
)

// The operations.
const (
	opStat = "stat"
	opList = "list"
	opGet  = "get"
	opPut  = "put"
	// opPutNew writes an object that must not exist yet.
	opPutNew = "put-new"
	opDelete = "delete"
)

// call is what a process is asked to do. Addresses may carry credentials, so that it is no
// argument.
type call struct {
	Op      string `json:"op"`
	Address string `json:"address"`
	// Key is that of an object, or the prefix of a listing.
	Key         string `json:"key"`
	Offset      int64  `json:"offset,omitempty"`
	ContentType string `json:"contentType,omitempty"`
	Size        int64  `json:"size,omitempty"`
}

// begins is the line before the content of an object.
const begins = "content\n"

// failure is an error on its way from one process to the other.
type failure struct {
	Kind    objectstore.Kind `json:"kind"`
	Bucket  string           `json:"bucket"`
	Key     string           `json:"key"`
	Op      string           `json:"op"`
	Message string           `json:"message"`
}

// Failure is err as a line.
func Failure(err error) string {
	f := failure{Kind: objectstore.KindOther, Message: err.Error()}
	if e, ok := errors.AsType[*objectstore.Error](err); ok {
		f = failure{Kind: e.Kind, Bucket: e.Bucket, Key: e.Key, Op: e.Op, Message: e.Err.Error()}
	}
	line, err := json.Marshal(f)
	if err != nil {
		return f.Message
	}
	return string(line)
}

// parseFailure is the error in a line, or nil.
func parseFailure(line []byte) error {
	var f failure
	_ = json.Unmarshal(line, &f) // what is no failure has no kind
	if f.Kind == "" {
		return nil
	}
	return &objectstore.Error{Kind: f.Kind, Bucket: f.Bucket, Key: f.Key, Op: f.Op, Err: errors.New(f.Message)}
}
