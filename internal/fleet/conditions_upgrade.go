package fleet

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// upgradeImageMissing says whether an upgrade of the chain is ahead, or needed, whose image nobody
// has named. Each node says so of itself; an upgrade that all have ahead is told once.
func (s *report) upgradeImageMissing(set conditions.Setter) {
	if s.nodes == nil {
		return
	}
	next := s.snd.Status.NextUpgrade
	switch nodes := s.withoutImage(); {
	case next != nil && next.Image == "":
		set.True(v1alpha1.ConditionUpgradeImageMissing, v1alpha1.ReasonNoEntry, fmt.Sprintf(
			"no entry of spec.template.spec.upgrades names upgrade %s at height %d: add an entry with this name and the image of its release; "+
				"the nodes stop at that height until there is one", next.Name, next.Height))
	case len(nodes) > 0:
		set.True(v1alpha1.ConditionUpgradeImageMissing, v1alpha1.ReasonNoEntry, listed(nodes))
	case next != nil:
		set.False(v1alpha1.ConditionUpgradeImageMissing, v1alpha1.ReasonImageKnown, "")
	default:
		set.False(v1alpha1.ConditionUpgradeImageMissing, v1alpha1.ReasonNothingScheduled, "")
	}
}

// withoutImage are the nodes that know no image for an upgrade, with what they say of it.
func (s *report) withoutImage() []string {
	var found []string
	for i := range s.members {
		if live := s.members[i].own(); live != nil && imageMissing(live) != "" {
			found = append(found, live.Name+": "+imageMissing(live))
		}
	}
	return found
}

// imageMissing is what a node says of an upgrade whose image it does not know; empty when there is
// none.
func imageMissing(live *v1alpha1.SeiNode) string {
	c := conditions.Get(live.Status.Conditions, v1alpha1.ConditionUpgradeImageMissing)
	if c == nil || c.Status != metav1.ConditionTrue {
		return ""
	}
	return c.Message
}
