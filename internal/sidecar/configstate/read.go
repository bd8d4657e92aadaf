package configstate

import (
	"fmt"
	"reflect"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// State is what is known of the files on disk.
type State struct {
	// ConfigHash is what the files are called; empty: they came without a name, or were
	// edited since.
	ConfigHash string
	// Validation is the last verdict on these files; nil: there is none.
	Validation *api.Validation
	// Refused is the configuration that these files stay in force instead of.
	Refused *api.Refusal
	// Digest tells the content of the files.
	Digest string
}

// looks is how often Read looks at files that change under it.
const looks = 5

// Read tells what is known of the files on disk. It changes nothing.
func Read(home string) (State, error) {
	v := volume{home}
	for range looks {
		before, err := v.load()
		if err != nil {
			return State{}, err
		}
		digest, err := digestOf(v.config())
		if err != nil {
			return State{}, err
		}
		// A record that is changed meanwhile may be about other files than were read.
		after, err := v.load()
		if err != nil {
			return State{}, err
		}
		if reflect.DeepEqual(before, after) {
			return after.state(digest), nil
		}
	}
	return State{}, fmt.Errorf("reading the record of the configuration: it changed %d times meanwhile", looks)
}

func (r record) state(digest string) State {
	s := State{Digest: digest}
	for _, n := range []*named{r.Current, r.Pending} {
		if n != nil && n.Digest == digest {
			s.ConfigHash = n.Hash
		}
	}
	if r.Verdict != nil && r.Verdict.Digest == digest {
		s.Validation = &r.Verdict.Validation
	}
	if r.Refused != nil && r.Refused.Over == digest {
		s.Refused = &r.Refused.Refusal
	}
	return s
}
