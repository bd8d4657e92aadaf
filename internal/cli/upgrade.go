package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/cli/live"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// UpgradeDetail is the upgrade that a chain has scheduled, or that a node has stopped for.
type UpgradeDetail struct {
	Name string `json:"name"`
	// Height is that of the first block that needs it; 0 when it is not known.
	Height int64  `json:"height,omitempty"`
	Type   string `json:"type"`
	// State is that of the node. A fleet is Halted as soon as one of its nodes has stopped for it, and
	// Scheduled before.
	State string `json:"state"`
	// EstimatedTime is about when the chain gets to the height, as the node tells now; of a fleet the
	// earliest that one tells. nil when nobody does, or when it has stopped there.
	EstimatedTime *metav1.Time `json:"estimatedTime,omitempty"`
	// Image is what its entry names; empty when no entry does.
	Image      string     `json:"image,omitempty"`
	ImageState ImageState `json:"imageState"`
	// left is how long it is to the estimated time.
	left time.Duration
}

// ImageState is what is known of the image for an upgrade.
type ImageState string

// The states of an upgrade's image.
const (
	// ImageKnown: an entry names it.
	ImageKnown ImageState = "known"
	// ImageMissing: no entry names it.
	ImageMissing ImageState = "missing"
	// ImageNotPulled: it cannot be pulled ahead.
	ImageNotPulled ImageState = "notPulled"
	// ImageInForce: the node has been given it already.
	ImageInForce ImageState = "inForce"
)

// upgradeOf is the upgrade ahead of a node; nil when none is. What the node tells counts only for the
// upgrade that its status names: the status may be a moment behind.
func upgradeOf(node *seiv1.SeiNode, told *live.Upgrade, now time.Time) *UpgradeDetail {
	status := node.Status.Upgrade
	if status == nil || status.Scheduled == nil {
		return nil
	}
	u := upgradeDetail(status.Scheduled, status.State, imageOf(node.Spec.Upgrades, status.Scheduled.Name))
	switch {
	case u.Image == "":
	case status.Entry == u.Name:
		u.ImageState = ImageInForce
	case conditions.Is(node.Status.Conditions, seiv1.ConditionUpgradeScheduled, metav1.ConditionTrue, seiv1.ReasonImagePullFailed):
		u.ImageState = ImageNotPulled
	}
	if told != nil && told.Name == u.Name {
		u.estimate(told.EstimatedTime, now)
	}
	return u
}

// upgradeOfFleet is the upgrade ahead of a fleet, with what its nodes report; nil when none is.
func upgradeOfFleet(fleet *seiv1.SeiNodeDeployment, nodes []NodeStatus, now time.Time) *UpgradeDetail {
	next := fleet.Status.NextUpgrade
	if next == nil {
		return nil
	}
	u := upgradeDetail(&next.ScheduledUpgrade, seiv1.UpgradeScheduled, next.Image)
	var earliest *metav1.Time
	for i := range nodes {
		of := nodes[i].Upgrade
		if of == nil || of.Name != u.Name {
			continue
		}
		if !of.ahead() {
			u.State = string(seiv1.UpgradeHalted)
		}
		if at := of.EstimatedTime; at != nil && (earliest == nil || at.Before(earliest)) {
			earliest = at
		}
	}
	if earliest != nil {
		u.estimate(earliest.Time, now)
	}
	return u
}

func upgradeDetail(scheduled *seiv1.ScheduledUpgrade, state seiv1.UpgradeState, image string) *UpgradeDetail {
	u := &UpgradeDetail{
		Name: scheduled.Name, Height: scheduled.Height, Type: string(scheduled.Type), State: string(state), Image: image, ImageState: ImageKnown,
	}
	if image == "" {
		u.ImageState = ImageMissing
	}
	return u
}

// imageOf is the image that entries name for an upgrade; empty when none does.
func imageOf(entries []seiv1.ChainUpgrade, upgrade string) string {
	at := slices.IndexFunc(entries, func(e seiv1.ChainUpgrade) bool { return e.Name == upgrade })
	if at < 0 {
		return ""
	}
	return entries[at].Image
}

// ahead reports whether the height is still to come. A node that has stopped there says so in its
// condition Ready, and a fleet in its rollout.
func (u *UpgradeDetail) ahead() bool {
	return u != nil && (u.State == string(seiv1.UpgradeScheduled) || u.State == string(seiv1.UpgradeMovedEarly))
}

// estimate takes over a time, unless the height is there already.
func (u *UpgradeDetail) estimate(at, now time.Time) {
	if u.ahead() {
		u.EstimatedTime, u.left = &metav1.Time{Time: at}, at.Sub(now)
	}
}

// words say it in short, and in full also with its type, the time of day and the image's name. Empty:
// no upgrade is ahead.
func (u *UpgradeDetail) words(full bool) string {
	if !u.ahead() {
		return ""
	}
	words := "upgrade " + u.Name
	if full {
		words = strings.ToLower(u.Type) + " " + words
	}
	if u.Height > 0 {
		words += fmt.Sprintf(" at height %d", u.Height)
	}
	return words + u.timeWords(full) + ", " + u.imageWords(full)
}

func (u *UpgradeDetail) timeWords(full bool) string {
	if u.EstimatedTime == nil {
		return ""
	}
	words := " about now"
	if u.left >= time.Second {
		words = " in about " + duration.HumanDuration(u.left)
	}
	if full {
		words += " (" + u.EstimatedTime.UTC().Format(time.RFC3339) + ")"
	}
	return words
}

func (u *UpgradeDetail) imageWords(full bool) string {
	image := "image"
	if full && u.Image != "" {
		image += " " + u.Image
	}
	switch {
	case u.ImageState == ImageMissing && full:
		return "image missing: no entry names it"
	case u.ImageState == ImageMissing:
		return "image missing"
	case u.ImageState == ImageNotPulled:
		return image + " cannot be pulled"
	case u.ImageState == ImageInForce:
		return image + " in force"
	case full:
		return image
	default:
		return "image known"
	}
}

// lookAtUpgrade is the upgrade ahead of one node, and why its time is not known; empty when the
// node tells it.
func (c *Cluster) lookAtUpgrade(ctx context.Context, node *seiv1.SeiNode, pods []*corev1.Pod, now time.Time) (u *UpgradeDetail, unknown string) {
	if u = upgradeOf(node, nil, now); !u.ahead() {
		return u, ""
	}
	if unknown = notRunning(node, pods); unknown != "" {
		return u, unknown
	}
	told, unknown := live.AskUpgrade(ctx, c.Pods, node)
	if u = upgradeOf(node, told, now); u.EstimatedTime == nil {
		return u, cmp.Or(unknown, "the node gives no estimate")
	}
	return u, ""
}
