package node

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// upgrade writes the node's state with regard to upgrades of its chain. It changes when a plan appears or
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
	case c.Halted && failed != "":
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
				"set the image of the previous release in %s. seid says: %s", c.Image, refusal.Name, imageField(c.Entry), refusal.Message)
		case refusal.Name == c.Entry:
			return v1alpha1.ReasonHandlerMissing, fmt.Sprintf("image %s does not have the handler of upgrade %s: correct %s. seid says: %s",
				c.Image, refusal.Name, imageField(c.Entry), refusal.Message)
		}
		return "", ""
	}
	if before == nil || before.Image != c.Image || r.getsOn() {
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
