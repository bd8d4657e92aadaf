package metrics_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
)

func TestDeploymentObserved_Upgrade_CountsNodesWhileItLasts(t *testing.T) {
	m, registry := newMetrics(t)
	before, after := &seiv1.SeiNodeDeployment{}, &seiv1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "val"}}
	after.Status.Rollout = &seiv1.RolloutStatus{Upgrade: &seiv1.UpgradeRollout{Name: "v2", Halted: 1, Moved: 3, Producing: 2}}
	m.DeploymentObserved(before, after)
	expect(t, registry, metrics.NameFleetUpgradeNodes,
		`seinodedeployment_upgrade_nodes{name="val",namespace="sei",state="halted"} 1`,
		`seinodedeployment_upgrade_nodes{name="val",namespace="sei",state="moved"} 3`,
		`seinodedeployment_upgrade_nodes{name="val",namespace="sei",state="producing"} 2`)
	after.Status.Rollout = nil
	m.DeploymentObserved(before, after)
	expect(t, registry, metrics.NameFleetUpgradeNodes)
}
