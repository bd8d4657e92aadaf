package node

import (
	"encoding/json"
	"slices"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// ConfigParams is what a configuration task keeps in its plan: which configuration it
// has written. The configuration itself goes to the sidecar only.
type ConfigParams struct {
	ConfigHash string `json:"configHash"`
}

// WrittenConfig is the configuration that a plan's last complete config-apply has written;
// empty when there is none.
func WrittenConfig(p *v1alpha1.TaskPlan) string {
	if p == nil {
		return ""
	}
	for _, t := range slices.Backward(p.Tasks) {
		if t.Type != StepConfigApply || t.Status != v1alpha1.TaskComplete || t.Params == nil {
			continue
		}
		var params ConfigParams
		if json.Unmarshal(t.Params.Raw, &params) == nil {
			return params.ConfigHash
		}
	}
	return ""
}
