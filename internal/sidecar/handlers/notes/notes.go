// Package notes keeps what a task has to remember between being killed and being
// run again: which process it ended, what it found before it changed it. A note
// stays after the task is done, because the kill may come between the task's end
// and the moment its result is stored; only the newest notes of a kind are kept.
//
// A note belongs to a task and its parameters: a task that failed can be submitted again
// with others, and what was found for the first must not answer for the second.
package notes

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

// kept is how many notes of one kind there are at most: more than tasks that can
// run at the same time.
const kept = 64

// mu makes read, change and write of a list one step.
var mu sync.Mutex

type note struct {
	Task   string          `json:"task"`
	Params string          `json:"params,omitempty"`
	Value  json.RawMessage `json:"value"`
}

func (n note) isOf(task engine.Task) bool { return n.Task == task.ID && n.Params == task.ParamsDigest }

// Find reads the note of a task into value and reports whether there is one.
func Find(task engine.Task, kind string, value any) (bool, error) {
	list, err := read(task.Records, kind)
	if err != nil {
		return false, err
	}
	for _, n := range list {
		if !n.isOf(task) {
			continue
		}
		if err := json.Unmarshal(n.Value, value); err != nil {
			return false, fmt.Errorf("reading the record of %s: %w", kind, err)
		}
		return true, nil
	}
	return false, nil
}

// Keep stores the note of a task. It has reached the disk when Keep returns.
func Keep(task engine.Task, kind string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("recording %s: %w", kind, err)
	}
	mu.Lock()
	defer mu.Unlock()
	list, err := read(task.Records, kind)
	if err != nil {
		return err
	}
	fresh := make([]note, 0, len(list)+1)
	for _, n := range list {
		if !n.isOf(task) {
			fresh = append(fresh, n)
		}
	}
	fresh = append(fresh, note{Task: task.ID, Params: task.ParamsDigest, Value: raw})
	data, err := json.Marshal(fresh[max(0, len(fresh)-kept):])
	if err != nil {
		return fmt.Errorf("recording %s: %w", kind, err)
	}
	if err := task.Records.Put(key(kind), data); err != nil {
		return fmt.Errorf("recording %s: %w", kind, err)
	}
	return nil
}

func key(kind string) string { return "notes/" + kind }

func read(records engine.Records, kind string) ([]note, error) {
	data, err := records.Get(key(kind))
	if err != nil || data == nil {
		return nil, err
	}
	var list []note
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading the records of %s: %w", kind, err)
	}
	return list, nil
}
