package node

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// upgrade writes how the node stands to its chain's upgrades. It changes when a plan appears or
// goes, at a halt, and when the upgrade is applied; never with a block.
func (r *report) upgrade() {
	if !r.Read || r.Err != nil {
		return
	}
	c := &r.Upgrade
	if len(r.Node.Spec.Upgrades) == 0 && c.Scheduled == nil && c.Applied == nil && c.Missing == "" {
		r.status.Upgrade = nil
		return
	}
	r.status.Upgrade = &v1alpha1.UpgradeStatus{
		Scheduled: c.Scheduled, Image: c.Image, Entry: c.Entry, Applied: c.Applied, State: r.upgradeState(),
	}
}

func (r *report) upgradeState() v1alpha1.UpgradeState {
	c := &r.Upgrade
	failed, _ := r.upgradeFailure()
	switch {
	case failed != "":
		return v1alpha1.UpgradeFailed
	case c.Halted && c.Entry == c.Scheduled.Name && r.hasTarget():
		return v1alpha1.UpgradeMoved
	case c.Halted:
		return v1alpha1.UpgradeHalted
	case c.Early:
		return v1alpha1.UpgradeMovedEarly
	case c.Scheduled != nil:
		return v1alpha1.UpgradeScheduled
	default:
		return v1alpha1.UpgradeUpToDate
	}
}

// hasTarget reports whether the pod was made from what is wanted. Images are not compared: webhooks
// rewrite them.
func (r *report) hasTarget() bool {
	return r.Pod != nil && !r.Pod.Bootstrap && !r.Pod.Leaving && r.Pod.Build.SpecHash == r.Target.SpecHash
}

// upgradeFailure says why the image that was chosen is the wrong one; empty when nothing is wrong
// with it, or when it does not run yet. What seid said holds until it gets on, or gets another image.
func (r *report) upgradeFailure() (reason, message string) {
	c, before := &r.Upgrade, r.Node.Status.Upgrade
	if refusal := c.Refusal; refusal != nil && r.hasTarget() {
		switch {
		case refusal.Kind == api.RefusedTooEarly:
			return v1alpha1.ReasonTooEarly, fmt.Sprintf("image %s has the handler of upgrade %s, which is not due yet: "+
				"put the image of the release before into %s. seid says: %s", c.Image, refusal.Name, imageField(c.Entry), refusal.Message)
		case refusal.Name == c.Entry:
			return v1alpha1.ReasonHandlerMissing, fmt.Sprintf("image %s does not have the handler of upgrade %s: correct %s. seid says: %s",
				c.Image, refusal.Name, imageField(c.Entry), refusal.Message)
		}
		return "", ""
	}
	if before == nil || before.State != v1alpha1.UpgradeFailed || before.Image != c.Image || r.getsOn() {
		return "", ""
	}
	if said := conditions.Get(r.Node.Status.Conditions, v1alpha1.ConditionUpgradeFailed); said != nil && said.Status == metav1.ConditionTrue {
		return said.Reason, said.Message
	}
	return "", ""
}

// getsOn reports whether seid is known to run on its state.
func (r *report) getsOn() bool {
	d := r.Facts.Document
	return d != nil && d.Sync.Height > 0 && !r.Upgrade.Halted
}

// imageField is the field that an image comes from.
func imageField(entry string) string {
	if entry == "" {
		return "spec.image"
	}
	return "the image of entry " + entry + " of spec.upgrades"
}

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

var notAsked = verdict{metav1.ConditionUnknown, v1alpha1.ReasonNotAsked, "the sidecar has not told yet"}

func (r *report) upgradeScheduled() verdict {
	c, d := &r.Upgrade, r.Facts.Document
	switch {
	case c.Scheduled != nil && c.Missing == c.Scheduled.Name:
		return yes(v1alpha1.ReasonNoEntry, r.scheduleWords()+"; no entry of spec.upgrades names its image")
	case c.Scheduled != nil:
		return yes(v1alpha1.ReasonImageKnown, r.scheduleWords())
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

// scheduleWords say what is scheduled, in words that do not change until it happens.
func (r *report) scheduleWords() string {
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
		words += "; the entry says Minor and the chain's plan does not, so the height is waited for"
	}
	if entry.Height > 0 && entry.Height != s.Height {
		words += fmt.Sprintf("; the entry says height %d, and the chain's plan counts", entry.Height)
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
		return yes(v1alpha1.ReasonNoEntry, fmt.Sprintf("upgrade %s is applied to the state on the volume, the image that runs does not have it, "+
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
	return " (there is " + strings.Join(names, ", ") + ")"
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
