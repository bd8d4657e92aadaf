package deployment

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayv1ac "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/render"
)

// syncNetworking brings the fleet's Services and routes to what is asked for, and
// removes what no longer is. Nothing of it waits for DNS or for the nodes.
func (r *Reconciler) syncNetworking(ctx context.Context, s *scope) error {
	err := errors.Join(r.syncServices(ctx, s), r.syncRoutes(ctx, s))
	s.Result.Networking.Failed = err
	return err
}

func (r *Reconciler) syncServices(ctx context.Context, s *scope) error {
	services := fleet.Services(s.snd, s.platform, s.published())
	wanted, errs := map[string]bool{}, make([]error, 0, len(services)+3)
	s.Result.Networking.Outside.Services = map[string]*corev1.Service{}
	for _, want := range services {
		wanted[ptr.Deref(want.Name, "")] = true
		errs = append(errs, r.syncService(ctx, s, want))
	}
	errs = append(errs, r.syncSelected(ctx, s), r.observeMachines(ctx, s))
	list := &corev1.ServiceList{}
	errs = append(errs, r.Client.List(ctx, list, client.InNamespace(s.snd.Namespace), client.MatchingLabels{v1alpha1.LabelDeployment: s.snd.Name}))
	for i := range list.Items {
		errs = append(errs, r.removeUnwanted(ctx, s, wanted, &list.Items[i]))
	}
	return errors.Join(errs...)
}

// syncService brings one Service to what is asked for and keeps it as it is then, with the address
// that it was given.
func (r *Reconciler) syncService(ctx context.Context, s *scope, want *corev1ac.ServiceApplyConfiguration) error {
	name := ptr.Deref(want.Name, "")
	live, err := loop.Find(ctx, r.Client, s.snd.Namespace, name, &corev1.Service{})
	if err != nil {
		return err
	}
	applied, err := r.syncObject(ctx, s, "Service", want, asObject(live))
	if err == nil && applied {
		live, err = render.Convert[corev1.Service](want)
	}
	if err == nil && live != nil {
		s.Result.Networking.Outside.Services[name] = live
	}
	return err
}

// published are the ordinals that have Services. A paused fleet keeps those of the
// nodes that it may not remove yet.
func (s *scope) published() []int {
	ordinals := fleet.Ordinals(s.snd)
	if s.snd.Spec.Paused {
		for _, node := range s.Observed.Surplus {
			ordinals = append(ordinals, fleet.OrdinalOf(node))
		}
	}
	return ordinals
}

func (r *Reconciler) syncRoutes(ctx context.Context, s *scope) error {
	routes := fleet.Routes(s.snd, s.platform)
	served, err := r.routes.served(ctx, len(routes) > 0, s.Observed.Now)
	s.Result.Networking.RoutesServed = served
	if err != nil || !served {
		if len(routes) > 0 {
			s.comeBackIn(routesInterval)
		}
		return err
	}
	wanted, errs := map[string]bool{}, make([]error, 0, len(routes)+1)
	for _, want := range routes {
		wanted[ptr.Deref(want.Name, "")] = true
		errs = append(errs, r.syncRoute(ctx, s, want))
	}
	list := &gatewayv1.HTTPRouteList{}
	errs = append(errs, r.Client.List(ctx, list, client.InNamespace(s.snd.Namespace), client.MatchingLabels{v1alpha1.LabelDeployment: s.snd.Name}))
	for i := range list.Items {
		errs = append(errs, r.removeUnwanted(ctx, s, wanted, &list.Items[i]))
	}
	return errors.Join(errs...)
}

// syncRoute brings one route to what is asked for and keeps it as it is then, with what
// the Gateway's controllers say of it.
func (r *Reconciler) syncRoute(ctx context.Context, s *scope, want *gatewayv1ac.HTTPRouteApplyConfiguration) error {
	live, err := loop.Find(ctx, r.Client, s.snd.Namespace, ptr.Deref(want.Name, ""), &gatewayv1.HTTPRoute{})
	if err != nil {
		return err
	}
	applied, err := r.syncObject(ctx, s, "HTTPRoute", want, asObject(live))
	if err == nil && applied {
		// The cache does not have it yet; the API server's answer was read into want.
		live, err = render.Convert[gatewayv1.HTTPRoute](want)
	}
	if err == nil && live != nil {
		s.Result.Networking.Routes = append(s.Result.Networking.Routes, live)
	}
	return err
}

// asObject turns a typed nil into none.
func asObject[T any, P interface {
	*T
	client.Object
}](obj P) client.Object {
	if obj == nil {
		return nil
	}
	return obj
}

// syncObject applies one object if what is there does not hold all of it, and reports
// whether it did.
func (r *Reconciler) syncObject(ctx context.Context, s *scope, kind string, want runtime.ApplyConfiguration, live client.Object) (applied bool, err error) {
	if live != nil {
		if problem := fleet.MayAdopt(s.snd, kind, live); problem != "" {
			s.Result.Networking.Problems = append(s.Result.Networking.Problems, problem)
			return false, nil
		}
		if live.GetDeletionTimestamp() != nil {
			return false, nil
		}
		if ok, _ := render.Covers(want, live); ok {
			return false, nil
		}
	}
	err = r.Client.Apply(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNodeDeployment), client.ForceOwnership)
	if apierrors.IsInvalid(err) {
		s.Result.Networking.Problems = append(s.Result.Networking.Problems, err.Error())
		return false, nil // trying again changes nothing; the configuration has to
	}
	if err != nil {
		return false, fmt.Errorf("applying a %s of the fleet: %w", kind, err)
	}
	return true, nil
}

// removeUnwanted deletes an object of the fleet's own that is no longer asked for.
func (r *Reconciler) removeUnwanted(ctx context.Context, s *scope, wanted map[string]bool, live client.Object) error {
	if wanted[live.GetName()] || !fleet.Owns(s.snd, live) || live.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := live.GetUID()
	if err := r.Client.Delete(ctx, live, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %T %s: %w", live, live.GetName(), err)
	}
	return nil
}
