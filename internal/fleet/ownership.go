package fleet

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// MayAdopt says why an object under one of the fleet's names must be left alone;
// empty means that the fleet may write it. What the fleet controls is its own; what
// nobody controls and carries its label is what an earlier fleet of the same name
// left behind.
func MayAdopt(snd *v1alpha1.SeiNodeDeployment, kind string, live metav1.Object) (problem string) {
	owner := metav1.GetControllerOf(live)
	switch {
	case owner != nil && owner.UID == snd.UID:
		return ""
	case owner != nil:
		return fmt.Sprintf("%s %s is controlled by %s %s: delete or rename one of the two", kind, live.GetName(), owner.Kind, owner.Name)
	case live.GetLabels()[v1alpha1.LabelDeployment] != snd.Name:
		return fmt.Sprintf("%s %s is there already and belongs to no fleet: delete it, or let this fleet adopt it by the label %s=%s",
			kind, live.GetName(), v1alpha1.LabelDeployment, snd.Name)
	default:
		return ""
	}
}
