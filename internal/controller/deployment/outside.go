package deployment

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
)

// observeHosts finds out which host names other fleets have. It is asked again after a while:
// nothing tells a fleet that another one is gone.
func (r *Reconciler) observeHosts(ctx context.Context, s *scope) error {
	if s.snd.Spec.Networking == nil {
		return nil
	}
	list := &v1alpha1.SeiNodeDeploymentList{}
	if err := r.Client.List(ctx, list); err != nil {
		return fmt.Errorf("listing SeiNodeDeployments: %w", err)
	}
	s.platform, s.Result.Networking.Taken = fleet.WithoutTaken(s.snd, list.Items, r.Platform)
	if len(s.Result.Networking.Taken) > 0 {
		s.comeBackIn(routesInterval)
	}
	return nil
}

// target is the node as the template asks for it, with the port its Service was given.
func (r *Reconciler) target(ctx context.Context, s *scope, ordinal int) (fleet.Child, error) {
	target := fleet.Target(s.snd, s.platform, ordinal)
	if !fleet.NeedsNodePorts(s.snd, s.platform) {
		return target, nil
	}
	live, err := loop.Find(ctx, r.Client, s.snd.Namespace, fleet.P2PServiceName(s.snd.Name, ordinal), &corev1.Service{})
	if err != nil {
		return target, err
	}
	return target.WithNodePort(live), nil
}

// observeMachines finds out where the pods run whose ports are open on their machines.
func (r *Reconciler) observeMachines(ctx context.Context, s *scope) error {
	if s.platform.P2P.Type != platform.P2PHostPort || !s.snd.Spec.Networking.TCPEnabled() {
		return nil
	}
	s.Result.Networking.Outside.Machines = map[string]string{}
	for _, m := range s.Result.Members {
		if m.Live == nil {
			continue
		}
		pod, err := loop.Find(ctx, r.Client, s.snd.Namespace, render.PodName(m.Live), &corev1.Pod{})
		if err != nil {
			return err
		}
		if pod != nil {
			s.Result.Networking.Outside.Machines[m.Live.Name] = pod.Status.HostIP
		}
	}
	return nil
}
