package supervision

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Record is what the gate knows of the chain process. The zero value means that no gate
// of this kind has run on the volume.
type Record struct {
	State api.SeidState `json:"state,omitempty"`
	// Since is when State began.
	Since time.Time `json:"since,omitzero"`
	// Starts counts the starts since the volume was made.
	Starts int `json:"starts,omitempty"`

	// PID, StartTicks and BootID are the process; empty unless it runs. PIDNamespace is where it has
	// that PID; gates of older sidecars do not say.
	PID          int    `json:"pid,omitempty"`
	StartTicks   string `json:"startTicks,omitempty"`
	BootID       string `json:"bootId,omitempty"`
	PIDNamespace string `json:"pidNamespace,omitempty"`
	// ConfigHash and ConsensusAddress are what the process was started with.
	ConfigHash       string `json:"configHash,omitempty"`
	ConsensusAddress string `json:"consensusAddress,omitempty"`
	// TermAt is when the process was sent its SIGTERM, and TermBy who asked for it. A
	// process gets one: seid drops its handler at the first, and a second would kill it
	// while it closes its databases.
	TermAt *time.Time `json:"termAt,omitempty"`
	TermBy string     `json:"termBy,omitempty"`
	// Upgrade is what the process says the chain needs. It stays with a process that
	// says so and does not end.
	Upgrade *api.Upgrade `json:"upgrade,omitempty"`
	// Divergence is the block that the process refuses. It may keep asking its peers for
	// another one.
	Divergence *api.Divergence `json:"divergence,omitempty"`

	// Starting: seid was let through and is about to be started. Whoever needs it not to run waits
	// until it does, or until the gate has thought better of it. It means nothing without a gate.
	Starting bool `json:"starting,omitempty"`
	// Waiting says why seid is not started yet.
	Waiting string `json:"waiting,omitempty"`
	// Refusal says why seid is not started although the gate is open.
	Refusal string `json:"refusal,omitempty"`
	// Key is the consensus key as seid's container sees it. The sidecar's own look at
	// the file may be another one: a key from a Secret is mounted over it there alone.
	Key Key `json:"key,omitzero"`

	// LastExit is how the process before ended.
	LastExit *api.Exit `json:"lastExit,omitempty"`
}

// Key is a look at the consensus key.
type Key struct {
	// Address is in upper-case hex; empty when there is no readable key.
	Address string `json:"address,omitempty"`
	// Error says what is wrong with the key.
	Error string `json:"error,omitempty"`
}

// Read reads the record of a home; the zero Record when there is none. A process whose
// gate has ended, and which is gone too, is shown as exited for an unknown reason.
func Read(home string) (Record, error) {
	r, err := read(home)
	if err != nil || r.State != api.SeidRunning {
		return r, err
	}
	held, err := Watched(home)
	if err != nil || held || r.Process() != nil {
		return r, err
	}
	return r.Lost(r.lastSeen(home)), nil
}

// lastSeen is the last moment at which the process is known to have run.
func (r Record) lastSeen(home string) time.Time {
	at := r.Since
	if progress := LastProgress(home).UTC(); progress.After(at) {
		at = progress
	}
	if r.TermAt != nil && r.TermAt.After(at) {
		at = *r.TermAt
	}
	return at
}

func read(home string) (Record, error) {
	var r Record
	err := Load(home, recordName, &r)
	return r, err
}

// Identity tells the process from every other since the machine started; empty unless
// it runs. It is that of process.Node.
func (r Record) Identity() string {
	if r.State != api.SeidRunning {
		return ""
	}
	return strconv.Itoa(r.PID) + "@" + r.StartTicks
}

// Process is the running process, if it can be seen from here. Between containers that do not share
// their processes the same PID is another one.
func (r Record) Process() *process.Node {
	if r.State != api.SeidRunning || r.BootID != process.BootID() {
		return nil
	}
	if r.PIDNamespace != "" && r.PIDNamespace != process.Namespace() {
		return nil
	}
	seen := process.Table{}.At(r.PID)
	if seen == nil || seen.StartTicks() != r.StartTicks {
		return nil
	}
	return seen
}

// Lost is the record of a process whose end nobody saw.
func (r Record) Lost(at time.Time) Record {
	exit := &api.Exit{At: at, Reason: api.ExitUnknown, Message: "the container ended before the process did", Upgrade: r.Upgrade, Divergence: r.Divergence}
	switch {
	case r.Upgrade != nil:
		exit.Reason = api.ExitUpgradeNeeded
	case r.TermAt != nil:
		exit.Message = fmt.Sprintf("it was asked to end at %s and had not when its container was killed", r.TermAt.UTC().Format(time.RFC3339))
	}
	return r.Exited(exit)
}

// Exited is the record after the end of the process.
func (r Record) Exited(exit *api.Exit) Record {
	return Record{State: api.SeidExited, Since: exit.At, Starts: r.Starts, Key: r.Key, LastExit: exit}
}

// Seid is the process as the node document shows it.
func (r Record) Seid(time.Time) api.Seid {
	s := api.Seid{State: r.State, Starts: r.Starts, LastExit: r.LastExit}
	if !r.Since.IsZero() {
		s.Since = &r.Since
	}
	if r.State == api.SeidRunning {
		s.ConfigHash, s.ConsensusAddress, s.Divergence = r.ConfigHash, r.ConsensusAddress, r.Divergence
	}
	return s
}

// Refused is the block that the process refuses, or has refused when it ended; nil when there is
// none.
func (r Record) Refused() *api.Divergence {
	if r.State == api.SeidRunning || r.LastExit == nil {
		return r.Divergence
	}
	return r.LastExit.Divergence
}
