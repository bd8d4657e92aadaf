package node

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// upgrades sets the conditions about upgrades.
func (r *report) upgrades() {
	if r.Err != nil || !r.Read {
		r.upgradesUnseen()
		return
	}
	r.setVerdict(v1alpha1.ConditionUpgradeScheduled, r.upgradeScheduled())
	r.setVerdict(v1alpha1.ConditionUpgradeImageMissing, r.upgradeImageMissing())
	reason, message := r.upgradeFailure()
	if reason != "" {
		r.set.True(v1alpha1.ConditionUpgradeFailed, reason, message)
	} else {
		r.set.False(v1alpha1.ConditionUpgradeFailed, v1alpha1.ReasonNoFailure, "")
	}
}

// upgradesUnseen keeps what was said before by a pass that has learnt nothing.
func (r *report) upgradesUnseen() {
	for _, of := range []string{v1alpha1.ConditionUpgradeScheduled, v1alpha1.ConditionUpgradeImageMissing} {
		if conditions.Get(r.status.Conditions, of) == nil {
			r.setVerdict(of, notAsked)
		}
	}
	if conditions.Get(r.status.Conditions, v1alpha1.ConditionUpgradeFailed) == nil {
		r.set.False(v1alpha1.ConditionUpgradeFailed, v1alpha1.ReasonNoFailure, "")
	}
}

var notAsked = verdict{metav1.ConditionUnknown, v1alpha1.ReasonNotAsked, "the sidecar has not reported yet"}

func (r *report) upgradeScheduled() verdict {
	c, d := &r.Upgrade, r.Facts.Document
	switch {
	case c.Scheduled != nil && c.Missing == c.Scheduled.Name:
		return yes(v1alpha1.ReasonNoEntry, r.scheduleMessage()+"; no entry of spec.upgrades names its image")
	case c.Scheduled != nil && r.Pull.Problem != "":
		return yes(v1alpha1.ReasonImagePullFailed, r.scheduleMessage()+"; "+r.Pull.Problem)
	case c.Scheduled != nil:
		return yes(v1alpha1.ReasonImageKnown, r.scheduleMessage())
	case d != nil && d.Upgrades == nil && len(r.Node.Spec.Upgrades) > 0:
		return verdict{metav1.ConditionUnknown, v1alpha1.ReasonSidecarTooOld, fmt.Sprintf(
			"the sidecar has API level %d and cannot tell which upgrades are applied: use a sidecar image of level %d; "+
				"until then the node keeps its image, unless seid stops for an upgrade", d.APILevel, api.LevelUpgrades)}
	case c.Unknown:
		return r.saidOf(v1alpha1.ConditionUpgradeScheduled)
	default:
		return no(v1alpha1.ReasonNothingScheduled, "")
	}
}

// saidOf is what a condition said before, while nobody tells anything else.
func (r *report) saidOf(conditionType string) verdict {
	before := conditions.Get(r.Node.Status.Conditions, conditionType)
	if before == nil || before.Reason == v1alpha1.ReasonSidecarTooOld {
		return notAsked
	}
	return verdict{before.Status, before.Reason, before.Message}
}

// scheduleMessage say what is scheduled, in words that do not change until it happens.
func (r *report) scheduleMessage() string {
	c := &r.Upgrade
	s := c.Scheduled
	words := fmt.Sprintf("%s upgrade %s is scheduled for height %d", strings.ToLower(string(s.Type)), s.Name, s.Height)
	if c.Halted {
		words = fmt.Sprintf("seid has stopped for %s upgrade %s at height %d", strings.ToLower(string(s.Type)), s.Name, s.Height)
	}
	entry := find(&r.Node.Spec, s.Name)
	if entry == nil {
		return words
	}
	words += ", with image " + entry.Image
	if entry.Type == v1alpha1.UpgradeMinor && s.Type == v1alpha1.UpgradeMajor {
		words += "; the entry says Minor but the chain's plan does not: waiting for the height"
	}
	if entry.Height > 0 && entry.Height != s.Height {
		words += fmt.Sprintf("; the entry says height %d, but the chain's plan takes precedence", entry.Height)
	}
	if c.Hold != "" {
		words += "; " + c.Hold
	}
	return words
}

func (r *report) upgradeImageMissing() verdict {
	c := &r.Upgrade
	switch {
	case c.Missing != "" && c.Halted:
		return yes(v1alpha1.ReasonNoEntry, fmt.Sprintf("seid has stopped for upgrade %s, and no entry of spec.upgrades names it%s: "+
			"add an entry with this name and the image of its release", c.Missing, r.others()))
	case c.Missing != "" && c.Scheduled != nil && c.Missing == c.Scheduled.Name:
		return yes(v1alpha1.ReasonNoEntry, fmt.Sprintf("upgrade %s is scheduled for height %d, and no entry of spec.upgrades names it%s: "+
			"add an entry with this name and the image of its release, or the node stops at that height", c.Missing, c.Scheduled.Height, r.others()))
	case c.Missing != "":
		return yes(v1alpha1.ReasonNoEntry, fmt.Sprintf("upgrade %s is applied on the volume, but the running image does not have it "+
			"and no entry of spec.upgrades names it%s: add an entry with this name and the image of its release", c.Missing, r.others()))
	case c.Scheduled != nil:
		return no(v1alpha1.ReasonImageKnown, "")
	case c.Unknown:
		return r.saidOf(v1alpha1.ConditionUpgradeImageMissing)
	default:
		return no(v1alpha1.ReasonNothingScheduled, "")
	}
}

// others names the entries that there are: a wrong name is seen at once beside the right one.
func (r *report) others() string {
	names := make([]string, 0, len(r.Node.Spec.Upgrades))
	for i := range r.Node.Spec.Upgrades {
		names = append(names, r.Node.Spec.Upgrades[i].Name)
	}
	if len(names) == 0 {
		return ""
	}
	const shown = 5
	if len(names) > shown {
		names = append([]string{"..."}, names[len(names)-shown:]...)
	}
	return " (entries: " + strings.Join(names, ", ") + ")"
}

// upgradeStalled says why the node waits for a person because of an upgrade; empty when it does not.
func (r *report) upgradeStalled() (reason, message string) {
	if reason, message = r.upgradeFailure(); reason != "" {
		return reason, message
	}
	if v := r.upgradeImageMissing(); v.status == metav1.ConditionTrue && (r.Upgrade.Halted || r.Upgrade.Refusal != nil) {
		return v.reason, v.message
	}
	return "", ""
}
