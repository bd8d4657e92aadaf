package fleet

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// startLoadBalancers plays the controller of the cluster's load balancers until stop is called, or
// the test ends: it gives every Service of type LoadBalancer an address of a range that is reserved
// for documentation. Nothing listens there.
func (w fleets) startLoadBalancers() (stop func()) {
	w.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := w.Client.Watch(ctx, &corev1.ServiceList{}, client.InNamespace(w.NS))
	if err != nil {
		cancel()
		w.T.Fatal(err)
	}
	given := 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for event := range stream.ResultChan() {
			s, ok := event.Object.(*corev1.Service)
			if !ok || event.Type == watch.Deleted || s.Spec.Type != corev1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) > 0 {
				continue
			}
			given++
			s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: fmt.Sprintf("198.51.100.%d", given)}}
			err := w.Client.Status().Update(ctx, s)
			if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && ctx.Err() == nil {
				w.T.Errorf("the load balancers: %v", err)
			}
		}
	})
	stop = sync.OnceFunc(func() { cancel(); stream.Stop(); wg.Wait() })
	w.T.Cleanup(stop)
	return stop
}

// insideOnly reports whether all peers are addresses inside the cluster.
func insideOnly(peers []string) bool {
	for _, p := range peers {
		if !strings.HasSuffix(p, ".svc.cluster.local:26656") {
			return false
		}
	}
	return true
}
