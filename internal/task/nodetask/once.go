package nodetask

import (
	"encoding/json"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// process names the chain process that a restart is to end.
type process struct {
	// Starts is how often seid had been started.
	Starts int `json:"starts,omitempty"`
	// Since is when the process was started; nil when none ran.
	Since *time.Time `json:"since,omitempty"`
}

// noteProcess stores which process runs. The next pass, which finds it in the plan, may end it.
func noteProcess(step *v1alpha1.PlannedTask, seid api.Seid) plan.Outcome {
	now := process{Starts: seid.Starts}
	if seid.State == api.SeidRunning {
		now.Since = seid.Since
	}
	raw, err := json.Marshal(now)
	if err != nil {
		return plan.Terminal(v1alpha1.ReasonTaskFailed, fmt.Errorf("recording which process runs: %w", err))
	}
	step.Params = &apiextensionsv1.JSON{Raw: raw}
	return plan.Wait(v1alpha1.ReasonTaskNotComplete, "about to restart seid", time.Millisecond)
}

// otherProcess reports whether another process has been started since one was noted.
func otherProcess(step *v1alpha1.PlannedTask, seid api.Seid) bool {
	var noted process
	if step.Params == nil || json.Unmarshal(step.Params.Raw, &noted) != nil {
		return false
	}
	if noted.Starts > 0 && seid.Starts > 0 {
		return seid.Starts != noted.Starts
	}
	return noted.Since != nil && seid.Since != nil && seid.State == api.SeidRunning && seid.Since.After(*noted.Since)
}

// awaitAnswer waits for the process that has taken the place of the one that was to end.
func awaitAnswer(document api.Node) plan.Outcome {
	switch {
	case document.Seid.State != api.SeidRunning:
		return plan.Wait(v1alpha1.ReasonTaskNotComplete, "seid was restarted but is no longer running", shortly)
	case document.Sync.State == api.SyncStarting || document.Sync.State == api.SyncNotRunning:
		return plan.Wait(v1alpha1.ReasonTaskNotComplete, "seid was restarted but does not answer yet", shortly)
	default:
		return plan.Done("seid was restarted")
	}
}
