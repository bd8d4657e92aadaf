// Package configstate is a stand-in until the real one is merged.
package configstate

import "github.com/sei-operator/sei-operator/internal/sidecar/api"

// State is what is known of the configuration on disk.
type State struct {
	ConfigHash string
	Validation *api.Validation
	Refused    *api.Refusal
}

// Read knows nothing.
func Read(string) (State, error) { return State{}, nil }

// RestartDue knows of none.
func RestartDue(string, bool) ([]string, error) { return nil, nil }
