package metrics_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
)

func TestDeploymentObserved_CountsNodesByStateAndForgets(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := metrics.New(registry, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	snd := &seiv1.SeiNodeDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "rpc"},
		Spec:       seiv1.SeiNodeDeploymentSpec{Replicas: 5},
		Status: seiv1.SeiNodeDeploymentStatus{
			Replicas: 4, ReadyReplicas: 3, UpdatedReplicas: 2,
			Conditions: []metav1.Condition{{Type: seiv1.ConditionRolloutStalled, Status: metav1.ConditionTrue}},
		},
	}
	m.DeploymentObserved(snd)
	want := []string{
		`seinodedeployment_nodes{name="rpc",namespace="sei",state="desired"} 5`,
		`seinodedeployment_nodes{name="rpc",namespace="sei",state="present"} 4`,
		`seinodedeployment_nodes{name="rpc",namespace="sei",state="ready"} 3`,
		`seinodedeployment_nodes{name="rpc",namespace="sei",state="updated"} 2`,
	}
	if diff := cmp.Diff(want, series(t, registry, metrics.NameFleetNodes)); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	stalled := []string{`seinodedeployment_rollout_stalled{name="rpc",namespace="sei"} 1`}
	if diff := cmp.Diff(stalled, series(t, registry, metrics.NameFleetStalled)); diff != "" {
		t.Errorf("stalled (-want +got):\n%s", diff)
	}
	m.Forget(seiv1.KindSeiNodeDeployment, "sei", "rpc")
	for _, name := range []string{metrics.NameFleetNodes, metrics.NameFleetStalled} {
		if left := series(t, registry, name); len(left) > 0 {
			t.Errorf("a deleted fleet leaves %v", left)
		}
	}
}
