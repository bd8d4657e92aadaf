// Package completion remembers that a task was done, with which inputs and with
// what result. A repeat with the same inputs gets the result back without doing
// the work again; other inputs are never mistaken for the same task.
package completion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

const prefix = "done/"

// Record is what is kept of a finished task.
type Record struct {
	// Inputs is the digest of everything the result depends on.
	Inputs string          `json:"inputs"`
	Result json.RawMessage `json:"result"`
	DoneAt time.Time       `json:"doneAt"`
}

// Find is the record of a task type, or nil.
func Find(records engine.Records, task api.TaskType) (*Record, error) {
	data, err := records.Get(prefix + string(task))
	if err != nil {
		return nil, fmt.Errorf("reading the completion record of %s: %w", task, err)
	}
	if data == nil {
		return nil, nil
	}
	rec := new(Record)
	if err := json.Unmarshal(data, rec); err != nil {
		return nil, fmt.Errorf("reading the completion record of %s: %w", task, err)
	}
	return rec, nil
}

// Matches reports whether the record was made from these inputs.
func (r *Record) Matches(inputs any) bool {
	sum, err := digest(inputs)
	return err == nil && r != nil && r.Inputs == sum
}

// Save records that a task type was done.
func Save(records engine.Records, task api.TaskType, inputs, result any) error {
	raw, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("recording the completion of %s: %w", task, err)
	}
	sum, err := digest(inputs)
	if err != nil {
		return fmt.Errorf("recording the completion of %s: %w", task, err)
	}
	data, err := json.Marshal(Record{Inputs: sum, Result: raw, DoneAt: time.Now().UTC()})
	if err != nil {
		return fmt.Errorf("recording the completion of %s: %w", task, err)
	}
	if err := records.Put(prefix+string(task), data); err != nil {
		return fmt.Errorf("recording the completion of %s: %w", task, err)
	}
	return nil
}

// Forget drops the records of task types, so that they run again.
func Forget(records engine.Records, tasks ...api.TaskType) error {
	for _, task := range tasks {
		if err := records.Delete(prefix + string(task)); err != nil {
			return fmt.Errorf("dropping the completion record of %s: %w", task, err)
		}
	}
	return nil
}

// digest is the same for equal inputs, whatever the order of their map keys.
func digest(inputs any) (string, error) {
	raw, err := json.Marshal(inputs)
	if err != nil {
		return "", fmt.Errorf("encoding the inputs: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}
