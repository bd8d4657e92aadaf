package engine

import "github.com/sei-operator/sei-operator/internal/sidecar/api"

// Gate is the gate as the node document shows it.
func (e *Engine) Gate() api.Gate {
	if e.Ready() {
		return api.Gate{State: api.GateOpen}
	}
	return api.Gate{State: api.GateClosed}
}
