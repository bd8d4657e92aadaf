package events_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
)

// entry is what the catalogue says of a reason.
func entry(t *testing.T, reason events.Reason) events.Entry {
	t.Helper()
	for _, e := range events.Catalogue() {
		if e.Reason == reason {
			return e
		}
	}
	t.Fatalf("%s is not in the catalogue", reason)
	return events.Entry{}
}

func validator(c [3]string) *seiv1.SeiNode {
	node := state(seiv1.NodeRunning, c)
	node.Name, node.Namespace = "val-0", "sei"
	node.Spec.Validator = &seiv1.ValidatorSpec{
		SigningKey: &seiv1.SigningKeySource{Secret: seiv1.KeySecret{SecretName: "signing"}},
		NodeKey:    &seiv1.NodeKeySource{Secret: seiv1.KeySecret{SecretName: "identity"}},
	}
	node.Spec.DataVolume = &seiv1.DataVolumeSpec{Import: &seiv1.ImportVolume{PVCName: "old-data"}}
	return node
}

// Whoever reads an event finds the object it is about, of the kind the catalogue names.
func TestForNode_RelatedObject_IsNamed(t *testing.T) {
	for _, tc := range []struct {
		condition [3]string
		want      string
	}{
		{[3]string{"Ready", "False", "PodCrashLooping"}, "Pod val-0-0"},
		{[3]string{"Ready", "False", "ImagePullFailed"}, "Pod val-0-0"},
		{[3]string{"NodeUpdateInProgress", "True", "UpdateStarted"}, "Pod val-0-0"},
		{[3]string{"NodeUpdateInProgress", "False", "UpdateComplete"}, "Pod val-0-0"},
		{[3]string{"SidecarReady", "False", "NotReady"}, "Pod val-0-0"},
		{[3]string{"ImportPVCReady", "False", seiv1.ReasonPVCInvalid}, "PersistentVolumeClaim old-data"},
		{[3]string{"SigningKeyReady", "False", seiv1.ReasonSigningKeyInvalid}, "Secret signing"},
		{[3]string{"SigningKeyReady", "False", seiv1.ReasonKeyInUse}, "Secret signing"},
		{[3]string{"NodeKeyReady", "False", seiv1.ReasonNodeKeyNotReady}, "Secret identity"},
	} {
		list := events.ForNode(validator([3]string{tc.condition[0], "Unknown", "Before"}), validator(tc.condition))
		if len(list) != 1 {
			t.Errorf("%v: events %v", tc.condition, reasons(list))
			continue
		}
		related, ok := list[0].Related.(*corev1.ObjectReference)
		if !ok || related.Kind+" "+related.Name != tc.want || related.Namespace != "sei" {
			t.Errorf("%s is about %+v, want %s", list[0].Reason, list[0].Related, tc.want)
			continue
		}
		if kind := entry(t, list[0].Reason).Related; kind != related.Kind {
			t.Errorf("%s is about a %s, the catalogue says %q", list[0].Reason, related.Kind, kind)
		}
	}
}

func TestForDeployment_StalledRollout_NamesTheNodeItWaitsFor(t *testing.T) {
	stalled := metav1.Condition{Type: seiv1.ConditionRolloutStalled, Status: metav1.ConditionTrue, Reason: "R"}
	rollout := &seiv1.RolloutStatus{TargetHash: "a", WaitingOn: "rpc-1: Ready is False: ImagePullFailed"}
	list := events.ForDeployment(fleet(rollout), fleet(rollout, stalled), "")
	want := &corev1.ObjectReference{APIVersion: "sei.io/v1alpha1", Kind: "SeiNode", Name: "rpc-1"}
	if len(list) != 1 || !cmp.Equal(list[0].Related, want) {
		t.Errorf("events %+v, want 1 of them and %v", list, want)
	}
}
