// Package configstate is a stand-in with the agreed signatures.
package configstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// State is what is known of the configuration on disk.
type State struct {
	ConfigHash string          `json:"configHash,omitempty"`
	Validation *api.Validation `json:"validation,omitempty"`
	Refused    *api.Refusal    `json:"refused,omitempty"`
}

func path(home string) string { return filepath.Join(home, ".sei-sidecar", "config.json") }

// Read reads the state.
func Read(home string) (State, error) {
	data, err := os.ReadFile(path(home))
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	var s State
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return State{}, fmt.Errorf("reading the state of the configuration: %w", err)
	}
	return s, nil
}

// Claim says that the files on disk have a hash.
func Claim(home, hash string) error {
	data, err := json.Marshal(State{ConfigHash: hash, Validation: &api.Validation{Valid: true}})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path(home)), 0o750); err != nil {
		return err
	}
	return durable.WriteFile(path(home), data, 0o600)
}

// Started keeps the files that a process starts with.
func Started(string) error { return nil }

// RestartDue lists the keys that need a restart.
func RestartDue(string, bool) ([]string, error) { return nil, nil }

// MayStart says why seid must not start.
func MayStart(home, _ string) error {
	s, err := Read(home)
	if err == nil && s.Validation != nil && !s.Validation.Valid {
		err = errors.New("the configuration on disk failed validation: " + s.Validation.Error)
	}
	return err
}
