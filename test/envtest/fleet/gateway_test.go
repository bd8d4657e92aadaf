package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// installGatewayAPI serves HTTPRoutes until the test ends. The next one finds none.
func (w fleets) installGatewayAPI() {
	w.T.Helper()
	w.InstallGatewayAPI(w.T)
	w.T.Cleanup(func() {
		w.Stop()
		ctx := context.Background() // the test's own is over
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "httproutes.gateway.networking.k8s.io"}}
		if err := w.Client.Delete(ctx, crd); client.IgnoreNotFound(err) != nil {
			w.T.Error(err)
		}
		err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, envtest.WaitTimeout, true, func(ctx context.Context) (bool, error) {
			err := w.Client.Get(ctx, client.ObjectKeyFromObject(crd), crd)
			return apierrors.IsNotFound(err) && !w.servesRoutes(), client.IgnoreNotFound(err)
		})
		if err != nil {
			w.T.Errorf("waiting for the end of HTTPRoutes: %v", err)
		}
	})
}

// servesRoutes reports whether the API server tells its clients of HTTPRoutes: it continues to for a moment
// after their definition is gone.
func (w fleets) servesRoutes() bool {
	found, err := discovery.NewDiscoveryClientForConfigOrDie(w.Env.Config).ServerResourcesForGroupVersion(gatewayv1.GroupVersion.String())
	return err != nil && !apierrors.IsNotFound(err) ||
		found != nil && slices.ContainsFunc(found.APIResources, func(r metav1.APIResource) bool { return r.Kind == "HTTPRoute" })
}

const gatewayController gatewayv1.GatewayController = "test.sei.io/gateway"

// gateway plays the controller of the platform's Gateway with one listener: it judges
// every route that refers to the Gateway, again whenever the route changes, and writes
// the routes' status as the Gateway API demands it of a controller.
type gateway struct {
	fleets
	// domain is what the listener's hostname is: *.domain.
	domain string
}

// startGateway runs a Gateway for host names below domain until stop is called, or the
// test ends.
func (w fleets) startGateway(domain string) (stop func()) {
	w.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := w.Client.Watch(ctx, &gatewayv1.HTTPRouteList{}, client.InNamespace(w.NS))
	if err != nil {
		cancel()
		w.T.Fatal(err)
	}
	g := gateway{w, domain}
	var wg sync.WaitGroup
	wg.Go(func() {
		for event := range stream.ResultChan() {
			route, ok := event.Object.(*gatewayv1.HTTPRoute)
			if !ok || event.Type == watch.Deleted {
				continue
			}
			if err := g.judge(ctx, route); err != nil && ctx.Err() == nil {
				w.T.Errorf("the Gateway: %v", err)
			}
		}
	})
	stop = sync.OnceFunc(func() { cancel(); stream.Stop(); wg.Wait() })
	w.T.Cleanup(stop)
	return stop
}

// judge writes what the Gateway makes of a route, if that is news. What other
// controllers wrote stays.
func (g gateway) judge(ctx context.Context, route *gatewayv1.HTTPRoute) error {
	before := route.DeepCopy()
	for _, ref := range route.Spec.ParentRefs {
		namespace := cmp.Or(g.Platform.Gateway.Namespace, route.Namespace)
		if string(ref.Name) != g.Platform.Gateway.Name || string(ptr.Deref(ref.Namespace, gatewayv1.Namespace(route.Namespace))) != namespace {
			continue
		}
		resolved, err := g.resolved(ctx, route)
		if err != nil {
			return err
		}
		said := statement(route, ref)
		meta.SetStatusCondition(&said.Conditions, g.accepted(route))
		meta.SetStatusCondition(&said.Conditions, resolved)
	}
	if equality.Semantic.DeepEqual(before.Status, route.Status) {
		return nil
	}
	err := g.Client.Status().Update(ctx, route)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // a newer one, or its end, is on its way
	}
	return err
}

// statement is where the Gateway's controller writes what it makes of a route.
func statement(route *gatewayv1.HTTPRoute, ref gatewayv1.ParentReference) *gatewayv1.RouteParentStatus {
	list := &route.Status.Parents
	at := slices.IndexFunc(*list, func(p gatewayv1.RouteParentStatus) bool {
		return p.ControllerName == gatewayController && equality.Semantic.DeepEqual(p.ParentRef, ref)
	})
	if at < 0 {
		at = len(*list)
		*list = append(*list, gatewayv1.RouteParentStatus{ParentRef: ref, ControllerName: gatewayController})
	}
	return &(*list)[at]
}

// accepted says whether the listener serves one of the route's host names.
func (g gateway) accepted(route *gatewayv1.HTTPRoute) metav1.Condition {
	c := metav1.Condition{
		Type: string(gatewayv1.RouteConditionAccepted), Status: metav1.ConditionTrue, Reason: string(gatewayv1.RouteReasonAccepted),
		ObservedGeneration: route.Generation,
	}
	if !slices.ContainsFunc(route.Spec.Hostnames, func(h gatewayv1.Hostname) bool { return strings.HasSuffix(string(h), "."+g.domain) }) {
		c.Status, c.Reason = metav1.ConditionFalse, string(gatewayv1.RouteReasonNoMatchingListenerHostname)
		c.Message = fmt.Sprintf("no listener has a hostname of the route, only *.%s", g.domain)
	}
	return c
}

// resolved says whether there is a Service wherever the route leads.
func (g gateway) resolved(ctx context.Context, route *gatewayv1.HTTPRoute) (metav1.Condition, error) {
	c := metav1.Condition{
		Type: string(gatewayv1.RouteConditionResolvedRefs), Status: metav1.ConditionTrue, Reason: string(gatewayv1.RouteReasonResolvedRefs),
		ObservedGeneration: route.Generation,
	}
	for _, rule := range route.Spec.Rules {
		for _, ref := range rule.BackendRefs {
			err := g.Client.Get(ctx, client.ObjectKey{Namespace: route.Namespace, Name: string(ref.Name)}, &corev1.Service{})
			if client.IgnoreNotFound(err) != nil {
				return c, err
			}
			if err != nil {
				c.Status, c.Reason, c.Message = metav1.ConditionFalse, string(gatewayv1.RouteReasonBackendNotFound), fmt.Sprintf("there is no Service %s", ref.Name)
			}
		}
	}
	return c, nil
}
