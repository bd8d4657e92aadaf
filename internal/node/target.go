package node

import (
	"strings"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Target is the state that a node's spec asks for.
type Target struct {
	v1alpha1.PlanTarget

	// What the node is, for people: "full node of pacific-1".
	What string
	// Upgrade says why the image is that of an upgrade of the chain; empty when that is not why.
	Upgrade string
	// Restart is the value of the annotation sei.io/restart.
	Restart string
	// Retry: the user asked for another try since the last one, of the node or of its whole fleet.
	Retry bool
	// RetryNode: it was asked of this node.
	RetryNode bool
	Paused    bool
	// TemplateProblem is why no pod template can be rendered; empty when one can.
	TemplateProblem string
	// ConfigProblem is why the spec's configuration cannot be used; empty when it can.
	ConfigProblem string

	// SigningKey, NodeKey and Keyring: the spec hands one in.
	SigningKey, NodeKey, Keyring bool
	// Signs: the node signs blocks, with a key of a Secret or of its volume.
	Signs bool
	// Snapshot is where the first state comes from.
	Snapshot Snapshot
	// Bootstrap: a Job replays the chain to a height before the node itself starts.
	Bootstrap bool
	// Ceremony: the node takes part in founding its chain.
	Ceremony bool
	// ResultExport is the export of results that should run.
	ResultExport ResultExport
	// PublishKeep is how many published snapshots stay in the bucket; 0: none are published.
	PublishKeep int32
	// NoSnapshotBucket: there is no bucket to publish to.
	NoSnapshotBucket bool
}

// ResultExport is an export of results: every block is compared with that of another node.
type ResultExport struct {
	// Hash identifies it; empty when none is asked for, or none can be.
	Hash string
	// Reason and Problem are why the one that is asked for cannot be; empty when it can.
	Reason, Problem string
}

// Snapshot is a source of the first state.
type Snapshot int

// The sources of the first state.
const (
	// NoSnapshot: the node starts from genesis or from what is on its volume.
	NoSnapshot Snapshot = iota
	// BucketSnapshot: an archive in a bucket.
	BucketSnapshot
	// PeerSnapshot: state sync from peers.
	PeerSnapshot
)

// SameConfig reports whether two hashes name the same configuration. A hash has two parts,
// the whole and what of it comes from the spec; older operators knew the first only.
func SameConfig(a, b string) bool {
	wholeA, _, _ := strings.Cut(a, "-")
	wholeB, _, _ := strings.Cut(b, "-")
	return wholeA == wholeB
}

// SameSpecConfig reports whether two hashes differ at most in what does not come from the
// spec, such as the addresses of peers.
func SameSpecConfig(a, b string) bool {
	_, specA, known := strings.Cut(a, "-")
	_, specB, knownToo := strings.Cut(b, "-")
	return SameConfig(a, b) || known && knownToo && specA == specB
}
