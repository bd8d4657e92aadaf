package wire

import (
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// MarkReady asks to open the start gate.
type MarkReady struct {
	// Expect is what must be true for the gate to open; nil opens it whatever is there.
	Expect *Expectation `json:"expect,omitempty"`
	// Permission lets a later sidecar on this volume open the gate by itself for this long
	// when it hears of no operator, as long as configuration, key and pod template are the
	// same; empty leaves none and revokes an earlier one.
	Permission string `json:"permission,omitempty"`
}

// Expectation is what the caller of mark-ready believes of the node.
type Expectation struct {
	// ConfigHash is the configuration on disk, which must have passed validation for the
	// version of seid in the pod.
	ConfigHash string `json:"configHash"`
	// ConsensusAddress is the address of the key that seid signs with; empty: it signs with none.
	ConsensusAddress string `json:"consensusAddress,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *MarkReady) Validate() error {
	if p.Expect != nil && p.Expect.ConfigHash == "" {
		return api.InvalidField("expect.configHash", "is required")
	}
	return duration("permission", p.Permission)
}

// StopSeid asks to end the chain process and leave it ended.
type StopSeid struct{}

// RestartSeid asks to end the chain process and waits until a new one answers.
type RestartSeid struct {
	// Drain is for how long the sidecar says that the node is not in sync before it
	// ends the process, so that clients go elsewhere; empty means not at all. Its name on the
	// wire is that which sidecars of level 3 know.
	Drain string `json:"farewell,omitempty"`
	// ConfigHash is the configuration that the restart is for. A process that was started
	// with it is left alone, so that the same wish asked for twice is one restart.
	ConfigHash string `json:"configHash,omitempty"`
}

// maxDrain is longer than any probe needs. Meanwhile no other task can reach the process.
const maxDrain = 10 * time.Minute

// Validate checks what can be checked without the node.
func (p *RestartSeid) Validate() error {
	if err := duration("farewell", p.Drain); err != nil {
		return err
	}
	if d := p.DrainPeriod(); d > maxDrain {
		return api.InvalidField("farewell", "%s is longer than %s", d, maxDrain)
	}
	return nil
}

// DrainPeriod is the drain of parameters that are valid.
func (p *RestartSeid) DrainPeriod() time.Duration {
	d, _ := time.ParseDuration(p.Drain) // empty is none, the rest was checked
	return d
}

// Stopped is the result of stop-seid.
type Stopped struct {
	// WasRunning: there was a process to end.
	WasRunning bool `json:"wasRunning"`
}

// Restarted is the result of restart-seid.
type Restarted struct {
	// RPCServing is false only for a node that opens no RPC: a seed, and one whose state
	// sync keeps it closed.
	RPCServing bool `json:"rpcServing"`
	// AlreadyRunning: the process was what was asked for and was left alone.
	AlreadyRunning bool `json:"alreadyRunning,omitempty"`
}

// ResetData asks to empty the data directory.
type ResetData struct {
	// ResetSigningState also forgets what the validator signed last. Safe only
	// when the key never signs for this chain again, or the chain starts over.
	ResetSigningState bool `json:"resetSigningState,omitempty"`
}

// WipedData is the result of reset-data.
type WipedData struct {
	// WipedBytes is -1 when the size could not be told.
	WipedBytes int64 `json:"wipedBytes"`
}

// The conditions and actions of await-condition.
const (
	ConditionHeight     = "height"
	ConditionCatchingUp = "catchingUp"

	ActionSigterm = "SIGTERM_SEID"
)

// AwaitCondition asks to wait for the node, and optionally to end it then.
type AwaitCondition struct {
	Condition    string `json:"condition"`
	TargetHeight int64  `json:"targetHeight,omitempty"`
	Action       string `json:"action,omitempty"`
	// Timeout bounds the wait, for example 30m; empty means no bound.
	Timeout string `json:"timeout,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *AwaitCondition) Validate() error {
	switch p.Condition {
	case "":
		return api.InvalidField("condition", "condition is required")
	case ConditionCatchingUp:
	case ConditionHeight:
		if p.TargetHeight <= 0 {
			return api.InvalidField("targetHeight", "has to be positive for condition height")
		}
	default:
		return api.InvalidField("condition", "unknown condition %q", p.Condition)
	}
	if p.Action != "" && p.Action != ActionSigterm {
		return api.InvalidField("action", "unknown action %q", p.Action)
	}
	return duration("timeout", p.Timeout)
}

// ConditionMet is the result of await-condition.
type ConditionMet struct {
	Height int64 `json:"height"`
}
