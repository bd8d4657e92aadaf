package deployment

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=list;watch;create;patch;delete

// routesInterval is how often to look whether the Gateway API was installed meanwhile,
// while a fleet asks for routes.
const routesInterval = time.Minute

// fillTimeout bounds how long a fleet waits for the first list of HTTPRoutes.
const fillTimeout = 5 * time.Second

// routeWatch follows HTTPRoutes once their CRD is there. The operator starts and works
// without the Gateway API; it may be installed at any time.
type routeWatch struct {
	mapper     meta.RESTMapper
	cache      cache.Cache
	controller controller.Controller

	mu sync.Mutex
	// started: the watch was registered; watched: its cache is filled.
	started, watched bool
	looked           time.Time
}

var httpRoute = schema.GroupKind{Group: gatewayv1.GroupName, Kind: "HTTPRoute"}

// served reports whether HTTPRoutes can be used, and starts to watch them when they can.
// A fleet that asks for none is satisfied with an answer of a minute ago.
func (w *routeWatch) served(ctx context.Context, asked bool, now time.Time) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched {
		return true, nil
	}
	if !asked && !w.looked.IsZero() && now.Sub(w.looked) < routesInterval {
		return false, nil
	}
	w.looked = now
	if _, err := w.mapper.RESTMapping(httpRoute, gatewayv1.GroupVersion.Version); err != nil {
		if meta.IsNoMatchError(err) {
			return false, nil
		}
		return false, fmt.Errorf("looking for the Gateway API: %w", err)
	}
	return w.watch(ctx)
}

// watch starts the watch once and waits a little until its cache is filled. Nothing is
// filtered: a fleet reads the spec of its routes, and in their status what the
// Gateway says.
func (w *routeWatch) watch(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, fillTimeout)
	defer cancel()
	toFleet := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, r *gatewayv1.HTTPRoute) []reconcile.Request {
		return fleetOfObject(r)
	})
	if !w.started {
		if err := w.controller.Watch(source.Kind(w.cache, &gatewayv1.HTTPRoute{}, toFleet)); err != nil {
			return false, fmt.Errorf("watching HTTPRoutes: %w", err)
		}
		w.started = true
	}
	if _, err := w.cache.GetInformer(ctx, &gatewayv1.HTTPRoute{}); err != nil {
		return false, fmt.Errorf("watching HTTPRoutes: %w", err)
	}
	w.watched = true
	return true, nil
}
