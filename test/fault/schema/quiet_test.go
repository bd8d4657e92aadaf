package schema

import (
	"fmt"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// silent wants an operator that looks at everything some more times to write nothing.
func (s *stage) silent(reconciles int) {
	s.T.Helper()
	mark := s.Recorder.Mark()
	s.reconcile(reconciles)
	took := func(q envtest.Request) bool { return q.Code < http.StatusBadRequest }
	s.Recorder.Since(mark).Writes().In(s.NS).Without("events").Where(took).RequireNone(s.T, "writes after the end")
	for _, violation := range s.Sidecars.Violations() {
		s.T.Error(violation)
	}
}

// reconcile makes the operator look at every object so many times.
func (s *stage) reconcile(times int) {
	s.T.Helper()
	if s.base.kind == v1alpha1.KindSeiNodeDeployment {
		s.force(metrics.NameDeploymentStatusPatches, fleetName, &v1alpha1.SeiNodeDeployment{}, times)
	}
	nodes := &v1alpha1.SeiNodeList{}
	if err := s.Client.List(s.T.Context(), nodes, client.InNamespace(s.NS)); err != nil {
		s.T.Fatal(err)
	}
	for _, n := range nodes.Items {
		s.force(metrics.NameNodeStatusPatches, n.Name, &v1alpha1.SeiNode{}, times)
	}
}

// annotationForced makes the operator look at an object.
const annotationForced = "fault/forced"

func (s *stage) force(metric, name string, obj client.Object, times int) {
	s.T.Helper()
	count := func() float64 {
		return s.Patches(metric, name, statuspatch.Noop) + s.Patches(metric, name, statuspatch.Changed)
	}
	for range times {
		seen := count()
		world.Edit(s.World, name, obj, func(obj client.Object) {
			annotations := obj.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[annotationForced] = fmt.Sprint(seen, time.Now().UnixNano())
			obj.SetAnnotations(annotations)
		})
		s.Eventually("another reconcile of "+name, func() bool { return count() > seen })
	}
}
