package chaos

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// Signed is what a validator has signed last, as its file says. It is written before the signature leaves the process.
type Signed struct {
	Height    int64  `json:"height,string"`
	Round     int32  `json:"round"`
	Step      int8   `json:"step"`
	Signature string `json:"signature"`
}

// ReadSigned reads priv_validator_state.json.
func ReadSigned(file []byte) (Signed, error) {
	var s Signed
	if err := json.Unmarshal(file, &s); err != nil {
		return s, fmt.Errorf("reading what was signed last: %w", err)
	}
	return s, nil
}

func (s Signed) String() string { return fmt.Sprintf("%d/%d/%d", s.Height, s.Round, s.Step) }

// After says what is wrong with a state that was read later than another one of the same validator; empty if nothing is.
// A validator goes from step to step, and signs a step once.
func (s Signed) After(before Signed) string {
	order := cmp.Or(cmp.Compare(s.Height, before.Height), cmp.Compare(s.Round, before.Round), cmp.Compare(s.Step, before.Step))
	switch {
	case order < 0:
		return fmt.Sprintf("height/round/step went back from %s to %s", before, s)
	case order == 0 && before.Signature != "" && s.Signature != before.Signature:
		return fmt.Sprintf("%s was signed twice", s)
	}
	return ""
}
