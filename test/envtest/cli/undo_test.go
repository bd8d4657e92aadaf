package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1alpha1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// keep stores the present template of the fleet as the operator does, under a number, and changes it.
func (u *user) keep(t *testing.T, number int64, change func(*seiv1alpha1.SeiNodeSpec)) {
	t.Helper()
	snd := u.fleet(t)
	raw, err := json.Marshal(snd.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	u.make(t, &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: fleet.RevisionName("rpc", raw), Namespace: u.ns,
			Labels: map[string]string{seiv1alpha1.LabelDeployment: "rpc", seiv1alpha1.LabelRevisionOf: "rpc"},
		},
		Revision: number, Data: runtime.RawExtension{Raw: raw},
	})
	before := snd.DeepCopy()
	change(&snd.Spec.Template.Spec)
	if err := u.Client.Patch(t.Context(), snd, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// A volume that has grown cannot shrink: the API server refuses the earlier template, and says why.
func TestUndo_TemplateThatTheAPIServerRefuses_ChangesNothing(t *testing.T) {
	u := newUser(t)
	size := func(size string) func(*seiv1alpha1.SeiNodeSpec) {
		return func(spec *seiv1alpha1.SeiNodeSpec) {
			spec.DataVolume = &seiv1alpha1.DataVolumeSpec{Size: new(resource.MustParse(size))}
		}
	}
	u.keep(t, 1, size("1Gi"))
	u.keep(t, 2, size("2Gi"))
	before := u.fleet(t)
	_, err := u.run(t, "rollout", "undo", "rpc")
	if err == nil || !strings.Contains(err.Error(), "spec.template.spec: Invalid value: dataVolume.size can only grow: a volume cannot shrink") {
		t.Errorf("undo = %v, want a refusal that names the field and says that a volume can only grow", err)
	}
	if after := u.fleet(t); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the fleet was written: %+v", after.Spec.Template)
	}
}

func TestUndo_OnARealAPIServer_GoesBack(t *testing.T) {
	u := newUser(t)
	earlier := u.fleet(t).Spec.Template.Spec.Image
	u.keep(t, 1, func(spec *seiv1alpha1.SeiNodeSpec) { spec.Image = image })
	if out := u.must(t, "rollout", "undo", "rpc"); out != "seinodedeployment.sei.io/rpc rolled back to revision 1: spec.image\n" {
		t.Errorf("printed %q", out)
	}
	if got := u.fleet(t).Spec.Template.Spec.Image; got != earlier {
		t.Errorf("the template has %s, want %s", got, earlier)
	}
}
