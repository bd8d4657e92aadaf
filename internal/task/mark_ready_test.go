package task

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Whether a volume may be a copy costs a question to the API server; a new node on an empty volume
// asks none.
func TestMayBeCopy_IsAVolumeThatIsOlderThanItsNode(t *testing.T) {
	made := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	at := func(d time.Duration) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(made.Add(d))}}
	}
	from := at(time.Second)
	from.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "VolumeSnapshot", Name: "s"}
	fromRef := at(time.Second)
	fromRef.Spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "VolumeSnapshot", Name: "s"}
	for name, c := range map[string]struct {
		claim    *corev1.PersistentVolumeClaim
		imported string
		want     bool
	}{
		"made for the node":              {at(time.Second), "", false},
		"made for it in the same second": {at(0), "", false},
		"not seen yet":                   {nil, "", false},
		"older than the node":            {at(-time.Second), "", true},
		"made from a snapshot":           {from, "", true},
		"made from a snapshot, by ref":   {fromRef, "", true},
		"imported":                       {at(time.Second), "old", true},
	} {
		node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: made}}
		if c.imported != "" {
			node.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: c.imported}}
		}
		if got := mayBeCopy(&Env{Node: node, Observed: &Objects{Claim: c.claim}}); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
