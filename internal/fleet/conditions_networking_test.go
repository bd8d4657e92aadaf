package fleet_test

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

func TestNetworkingReady_APassThatDidNotLook_ClaimsNothing(t *testing.T) {
	cfg := platform.Default()
	cfg.Gateway.Name, cfg.Gateway.Namespace, cfg.Gateway.Domain = "gw", "gateways", "sei.example"
	published := metav1.Condition{Type: v1alpha1.ConditionNetworkingReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonHTTPRoutesPublished}
	cases := map[string]struct {
		before []metav1.Condition
		status metav1.ConditionStatus
		reason string
	}{
		"the first pass": {nil, metav1.ConditionUnknown, v1alpha1.ReasonNetworkingFailed},
		"a later pass":   {[]metav1.Condition{published}, metav1.ConditionTrue, v1alpha1.ReasonHTTPRoutesPublished},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			snd := &v1alpha1.SeiNodeDeployment{}
			snd.Spec.Template.Spec.FullNode = &v1alpha1.FullNodeSpec{}
			snd.Spec.Networking = &v1alpha1.NetworkingSpec{}
			snd.Status.Conditions = tc.before
			pass := fleet.Pass{Observed: fleet.Observation{Fleet: snd.DeepCopy(), Now: time.Now()}, Result: fleet.Result{Err: errors.New("the cache is closed")}}
			pass.Report(snd, cfg)
			if !conditions.Is(snd.Status.Conditions, v1alpha1.ConditionNetworkingReady, tc.status, tc.reason) {
				t.Errorf("conditions %+v, want %s to be %s for %s", snd.Status.Conditions, v1alpha1.ConditionNetworkingReady, tc.status, tc.reason)
			}
		})
	}
}
