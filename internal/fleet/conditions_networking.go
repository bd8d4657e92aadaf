package fleet

import (
	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// deriveNetworking writes the fleet's addresses.
func (s *report) deriveNetworking() {
	status := &s.snd.Status
	status.InternalService = InternalService(s.snd)
	status.PerPodServices = PerPodServices(s.snd, status.IncumbentNodes)
	status.Endpoints = Endpoints(s.snd, status.IncumbentNodes)
	status.NetworkingStatus = s.networking.Published(s.snd, s.cfg)
}

// networkingReady says whether what was asked for is published. A pass that did not
// get as far as looking leaves it as it was.
func (s *report) networkingReady(set conditions.Setter) {
	const conditionType = v1alpha1.ConditionNetworkingReady
	if s.networking.Synced {
		ready, reason, message := s.networking.Ready(s.snd, s.cfg)
		set.Status(conditionType, ready, reason, message)
	} else if conditions.Get(s.snd.Status.Conditions, conditionType) == nil && s.err != nil {
		set.Unknown(conditionType, v1alpha1.ReasonNetworkingFailed, s.err.Error())
	}
}
