package reasons

import (
	"embed"
	"fmt"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/internal/events"
)

//go:embed *.yaml
var files embed.FS

// Condition is a type of condition, or several that share their reasons, of one kind.
type Condition struct {
	Kind   string   `json:"kind"`
	Types  []string `json:"types"`
	About  string   `json:"about"`
	States []State  `json:"states"`
}

// State is a status of a condition with the reasons it can have.
type State struct {
	Status  string   `json:"status"`
	Reasons []string `json:"reasons"`
	Words
}

// Words explain a reason.
type Words struct {
	// Meaning says what is.
	Meaning string `json:"meaning"`
	// Cause says why it happens; empty where nothing is wrong.
	Cause string `json:"cause,omitempty"`
	// Action says what to do.
	Action string `json:"action"`
}

// Conditions lists every condition of the three kinds with all of its reasons.
func Conditions() ([]Condition, error) { return conditions() }

// The files do not change, and reading them takes milliseconds.
var (
	conditions = sync.OnceValues(readConditions)
	happened   = sync.OnceValues(readEvents)
)

func readConditions() ([]Condition, error) {
	var all []Condition
	for _, kind := range []string{"SeiNode", "SeiNodeDeployment", "SeiNodeTask"} {
		var found []Condition
		if err := load(strings.ToLower(kind)+".yaml", &found); err != nil {
			return nil, err
		}
		for i := range found {
			found[i].Kind = kind
		}
		all = append(all, found...)
	}
	return all, nil
}

// Event is the reason of an event.
type Event struct {
	Reason string `json:"reason"`
	// Type is Normal or Warning.
	Type string `json:"type"`
	Words
}

// Events lists every event. What it means is taken from package events.
func Events() ([]Event, error) { return happened() }

func readEvents() ([]Event, error) {
	var words map[string]Words
	if err := load("events.yaml", &words); err != nil {
		return nil, err
	}
	all := make([]Event, 0, len(words))
	for _, entry := range events.Catalogue() {
		event := Event{Reason: string(entry.Reason), Type: entry.Type, Words: words[string(entry.Reason)]}
		event.Meaning = entry.Meaning
		if event.Action == "" {
			event.Action = "Nothing."
		}
		all = append(all, event)
		delete(words, event.Reason)
	}
	for reason := range words {
		return nil, fmt.Errorf("events.yaml explains %s, which is no event", reason)
	}
	return all, nil
}

func load(name string, into any) error {
	content, err := files.ReadFile(name)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if err := yaml.UnmarshalStrict(content, into); err != nil {
		return fmt.Errorf("parsing %s: %w", name, err)
	}
	return nil
}
