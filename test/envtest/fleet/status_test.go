package fleet

import (
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// patches counts the status patches of one object.
func (w fleets) patches(name string, result statuspatch.Result) float64 {
	w.T.Helper()
	return w.Patches(metrics.NameDeploymentStatusPatches, name, result)
}

// forceReconcile makes the operator look at a fleet by an annotation that means
// nothing, and returns when the look is over.
func (w fleets) forceReconcile(name string) {
	w.T.Helper()
	w.ForceReconcile(metrics.NameDeploymentStatusPatches, name, &v1alpha1.SeiNodeDeployment{})
}

// forceWrite makes the operator look at a fleet once, whatever comes of it.
func (w fleets) forceWrite(name string) {
	w.T.Helper()
	count := func() float64 { return w.patches(name, statuspatch.Noop) + w.patches(name, statuspatch.Changed) }
	seen := count()
	w.edit(name, func(s *v1alpha1.SeiNodeDeployment) { s.Annotations = map[string]string{"look": time.Now().String()} })
	w.Eventually("another reconcile", func() bool { return count() > seen })
}
