// Package trial starts seid on a configuration to see whether it does, in a home of its own
// with a chain of its own, without a network. The chain binary is the only one who knows all
// that it refuses.
//
// A starting seid needs memory that only its own container has. So the gate, which waits
// there, does the work, and the sidecar asks it through files on the volume. Which
// configuration is in force is not decided here.
package trial

// Result is the outcome of a trial.
type Result struct {
	// Tried: seid was started.
	Tried bool `json:"tried"`
	// Refused is why seid did not start, in its own words; empty when it did.
	Refused string `json:"refused,omitempty"`
	// Skipped is why seid was not started.
	Skipped string `json:"skipped,omitempty"`

	// unsure: seid took too long, which may be different the next time.
	unsure bool
}
