package v1alpha1

// UpgradeType says when the image of an upgrade may run.
// +kubebuilder:validation:Enum=Major;Minor
type UpgradeType string

// The types of upgrades.
const (
	// UpgradeMajor: the image may run from the upgrade's height on, and not before.
	UpgradeMajor UpgradeType = "Major"
	// UpgradeMinor: the image may run before the upgrade's height.
	UpgradeMinor UpgradeType = "Minor"
)

// ChainUpgrade says which image belongs to an upgrade of the chain.
type ChainUpgrade struct {
	// name of the upgrade, as the chain's proposal has it, for example v6.4.0.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=140
	Name string `json:"name"`
	// image is the container image with the seid that has the upgrade's handler. The node runs it
	// from the upgrade on, until the next entry's. Changing the image of the entry that is in force
	// replaces the pod.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`
	// height of the upgrade. It is only used for a node that starts from a state that is past it;
	// when to move a running node is told by the chain.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Height int64 `json:"height,omitempty"`
	// type says whether the image may run before the height (Minor) or not (Major). Default: as
	// the plan of the chain says. A plan that is not minor is waited for whatever is written here.
	// +optional
	Type UpgradeType `json:"type,omitempty"`
	// snapshotBefore takes a VolumeSnapshot of the volume at the halt, before the image changes.
	// +optional
	SnapshotBefore *bool `json:"snapshotBefore,omitempty"`
}

// UpgradeState is the state of a node with regard to the next upgrade of its chain.
// +kubebuilder:validation:Enum=UpToDate;Scheduled;MovedEarly;Halted;Moved;Failed
type UpgradeState string

// The states of an upgrade on a node.
const (
	// UpgradeUpToDate: no upgrade is ahead.
	UpgradeUpToDate UpgradeState = "UpToDate"
	// UpgradeScheduled: an upgrade is ahead, and the node runs the image before it.
	UpgradeScheduled UpgradeState = "Scheduled"
	// UpgradeMovedEarly: the node was given the image of a minor upgrade before its height.
	UpgradeMovedEarly UpgradeState = "MovedEarly"
	// UpgradeHalted: seid has stopped for the upgrade, and the pod does not have its image yet.
	UpgradeHalted UpgradeState = "Halted"
	// UpgradeMoved: seid had stopped for the upgrade, the pod has its image, and the upgrade is
	// not seen to be applied yet.
	UpgradeMoved UpgradeState = "Moved"
	// UpgradeFailed: seid had stopped for the upgrade, the pod has its image, and seid says that it
	// is not the right one.
	UpgradeFailed UpgradeState = "Failed"
)

// UpgradeStatus is the state of a node with regard to upgrades of its chain. It does not change with every block.
type UpgradeStatus struct {
	// scheduled is the upgrade that the chain has scheduled, or that the node has stopped for.
	// +optional
	Scheduled *ScheduledUpgrade `json:"scheduled,omitempty"`
	// image is the seid image that the node should run now: spec.image, or that of an entry of
	// spec.upgrades.
	// +optional
	Image string `json:"image,omitempty"`
	// entry is the name of the entry of spec.upgrades that image comes from. Empty: it is spec.image.
	// +optional
	Entry string `json:"entry,omitempty"`
	// state of the node with regard to the next upgrade.
	// +optional
	State UpgradeState `json:"state,omitempty"`
	// applied is the newest upgrade that is applied to the state on the node's volume.
	// +optional
	Applied *AppliedUpgrade `json:"applied,omitempty"`
}

// ScheduledUpgrade is an upgrade that is ahead.
type ScheduledUpgrade struct {
	// name of the upgrade.
	Name string `json:"name"`
	// height of the first block that needs it. Absent: not known.
	// +optional
	Height int64 `json:"height,omitempty"`
	// type of the upgrade, as the chain's plan says.
	Type UpgradeType `json:"type"`
}

// AppliedUpgrade is an upgrade that is applied.
type AppliedUpgrade struct {
	// name of the upgrade.
	Name string `json:"name"`
	// height of the block that applied it. Absent: not known.
	// +optional
	Height int64 `json:"height,omitempty"`
}
