package fleet

import "github.com/sei-operator/sei-operator/api/v1alpha1"

// Class says how a change of a template's field reaches nodes that exist.
type Class string

// The classes of fields.
const (
	// Live fields go to all nodes at once: taking them over disturbs nobody, or
	// disturbing everybody is what the user asks for.
	Live Class = "live"
	// Config fields change a node's configuration, and may restart seid.
	Config Class = "config"
	// Restart fields replace the node's pod.
	Restart Class = "restart"
	// Immutable fields cannot change; admission refuses it.
	Immutable Class = "immutable"
)

// Rolled reports whether a change goes through the fleet by a rollout.
func (c Class) Rolled() bool { return c == Config || c == Restart }

// Fields is the class of every field of a SeiNodeSpec, by its path. A mode or the
// data volume is listed by its parts, everything else as a whole: a part that needs
// more than the rest of its field decides for the field.
var Fields = map[string]Class{
	"chainId":           Immutable,
	"image":             Restart,
	"upgrades":          Live, // an entry alone restarts nothing; see upgrades.go for the one in force
	"peers":             Config,
	"overrides":         Config,
	"sidecar":           Restart,
	"podLabels":         Restart,
	"podAnnotations":    Restart,
	"imagePullSecrets":  Restart,
	"extraEnv":          Restart,
	"extraVolumes":      Restart,
	"extraVolumeMounts": Restart,
	"externalAddress":   Config,
	"p2pHostPort":       Restart,
	"paused":            Live,
	"resources":         Restart,
	"scheduling":        Restart,

	"dataVolume.import":           Immutable,
	"dataVolume.size":             Live,
	"dataVolume.storageClassName": Immutable,
	"dataVolume.deletionPolicy":   Live,
	"dataVolume.retention":        Live,

	// A snapshot is only looked at when a node is brought up.
	"fullNode.snapshot":  Live,
	"replayer.snapshot":  Live,
	"validator.snapshot": Live,
	// Publishing puts a label on the pod. A change of publish.keep alone goes by a rollout too,
	// which disturbs no node.
	"fullNode.snapshotGeneration": Restart,
	"archive.snapshotGeneration":  Restart,
	"replayer.resultExport":       Live,

	"validator.genesisCeremony": Immutable,
	"validator.signingKey":      Restart,
	"validator.nodeKey":         Restart,
	"validator.operatorKeyring": Restart,
	"seed.nodeKey":              Immutable,
}

// image and upgrades are rolled together, by what a node runs: see changesImage.
const (
	pathImage    = "image"
	pathUpgrades = "upgrades"
)

// rolledAnnotation is the one annotation of a template that replaces pods.
const rolledAnnotation = v1alpha1.AnnotationRestart
