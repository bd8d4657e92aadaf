package v1alpha1

// LabelDomain begins the keys of labels and annotations that are the operator's.
const LabelDomain = "sei.io/"

// Labels on the objects the operator makes.
const (
	// LabelNode is the SeiNode a pod, Service or volume belongs to. It is the
	// only label in a StatefulSet's selector, because selectors cannot change.
	LabelNode = "sei.io/node"
	// LabelChain is the chain id.
	LabelChain = "sei.io/chain"
	// LabelRole is the node's role: one of the Role constants.
	LabelRole = "sei.io/role"
	// LabelDeployment is the SeiNodeDeployment a SeiNode or Service belongs to.
	LabelDeployment = "sei.io/nodedeployment"
	// LabelDeploymentOrdinal is the position of a SeiNode in its fleet.
	LabelDeploymentOrdinal = "sei.io/nodedeployment-ordinal"
	// LabelComponent tells apart the helpers of a node, for example its bootstrap Job.
	LabelComponent = "sei.io/component"
	// LabelImagePull is the SeiNode that a pod pulls the image of its next upgrade for.
	LabelImagePull = "sei.io/image-pull"
	// LabelGenesis marks a ConfigMap that holds the genesis of the chain it names.
	LabelGenesis = "sei.io/genesis"
	// LabelRevisionOf is the SeiNodeDeployment whose template a ControllerRevision holds. Those of
	// StatefulSets bear the labels of their pods, LabelDeployment among them, but not this one.
	LabelRevisionOf = "sei.io/revision-of"
	// LabelTask is the SeiNodeTask for several nodes that a SeiNodeTask belongs to.
	LabelTask = "sei.io/task"
	// LabelSnapshotPublish marks the pods whose snapshots are to be published.
	LabelSnapshotPublish = "sei.io/snapshot-publish"
)

// Values of LabelRole.
const (
	RoleNode      = "node"
	RoleArchive   = "archive"
	RoleReplayer  = "replayer"
	RoleValidator = "validator"
	RoleSeed      = "seed"
)

// Values of LabelComponent.
const (
	ComponentBootstrap   = "bootstrap"
	ComponentP2PEndpoint = "p2p-endpoint"
	ComponentImagePull   = "image-pull"
	// ComponentUpgradeSnapshot is on VolumeSnapshots from before upgrades.
	ComponentUpgradeSnapshot = "upgrade-snapshot"
)

// Annotations users set to ask for something.
const (
	// AnnotationRetry starts a fresh plan on a Failed node whenever its value changes.
	AnnotationRetry = "sei.io/retry"
	// AnnotationFleetRetry on a node of a fleet is the retry that was asked for on the fleet. It starts
	// everything over but a validator whose signing state is lost: that takes a word about this node.
	AnnotationFleetRetry = "sei.io/fleet-retry"
	// AnnotationRestart replaces the node's pod whenever its value changes, and
	// picks up a pending pod template on the way.
	AnnotationRestart = "sei.io/restart"
	// AnnotationRemoveFirst on a node of a fleet has it go before others when the fleet is
	// scaled down.
	AnnotationRemoveFirst = "sei.io/remove-first"
)

// Finalizers.
const (
	FinalizerSeiNode           = "sei.io/seinode-finalizer"
	FinalizerSeiNodeDeployment = "sei.io/seinodedeployment-finalizer"
	// FinalizerSeiNodeTask is on a task while its node's sidecar works on it.
	FinalizerSeiNodeTask = "sei.io/seinodetask-finalizer"
)

// Field owners of server-side apply.
const (
	FieldOwnerSeiNode           = "seinode-controller"
	FieldOwnerSeiNodeDeployment = "seinodedeployment-controller"
	FieldOwnerSeiNodeTask       = "seinodetask-controller"
)

// What a ConfigMap with a genesis holds.
const (
	// GenesisDataKey is the binary data key of the genesis file, gzipped.
	GenesisDataKey = "genesis.json.gz"
	// AnnotationGenesisHash is the SHA-256 of the genesis file.
	AnnotationGenesisHash = "sei.io/genesis-sha256"
	// AnnotationGenesisInBucket marks a ConfigMap that only vouches for the hash:
	// the file is too large for it and lies in the genesis bucket.
	AnnotationGenesisInBucket = "sei.io/genesis-in-bucket"
	// AnnotationGenesisValidators are the consensus addresses of the chain's first
	// validators, separated by commas.
	AnnotationGenesisValidators = "sei.io/genesis-validators"
)

// AnnotationApplied on a fleet's node identifies the spec and the metadata that the
// fleet gave it last. It tells a hand's edit from the fleet's own change, and what the
// fleet once set from what others did.
const AnnotationApplied = "sei.io/applied"

// AnnotationDeploymentUID on what a fleet with deletionPolicy Retain has made is the UID of
// that fleet. Such objects have no owner reference.
const AnnotationDeploymentUID = "sei.io/nodedeployment-uid"

// AnnotationScaledDown on a fleet's node says that it is removed because the fleet was scaled
// down: its volume follows retention.whenScaled.
const AnnotationScaledDown = "sei.io/scaled-down"

// AnnotationMinorUpgrade on a fleet's node names the minor upgrade whose image the node may run
// before its height: the fleet lets its nodes go one after the other. A node that is in no fleet
// needs none.
const AnnotationMinorUpgrade = "sei.io/minor-upgrade"

// Data keys of the Secrets a node refers to.
const (
	SecretKeySigningKey = "priv_validator_key.json" //nolint:gosec // the name of a data key, not a credential
	SecretKeyNodeKey    = "node_key.json"           //nolint:gosec // the name of a data key, not a credential
)
