package wire

import "github.com/sei-operator/sei-operator/internal/sidecar/api"

// SnapshotRestore asks for the newest snapshot in the bucket, or the newest at or
// below a height.
type SnapshotRestore struct {
	TargetHeight int64 `json:"targetHeight,omitempty"`
	// TrustPeriod is what state sync will be set up with; a snapshot that is older is
	// refused before it is fetched. Empty means not known: the caller is only warned.
	TrustPeriod string `json:"trustPeriod,omitempty"`
	// RequireVerified passes over archives without a manifest.
	RequireVerified bool `json:"requireVerified,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *SnapshotRestore) Validate() error {
	if p.TargetHeight < 0 {
		return api.InvalidField("targetHeight", "%d is negative", p.TargetHeight)
	}
	return duration("trustPeriod", p.TrustPeriod)
}

// RestoredSnapshot is the result of snapshot-restore.
type RestoredSnapshot struct {
	Height int64  `json:"height"`
	Key    string `json:"key"`
	Bytes  int64  `json:"bytes"`
	// Verified: the archive matched its manifest.
	Verified bool     `json:"verified"`
	Warnings []string `json:"warnings,omitempty"`
}

// SnapshotUploadOnce asks to upload the newest finished snapshot.
type SnapshotUploadOnce struct{}

// SnapshotUpload asks to upload the newest finished snapshot again and again, until the
// task is deleted.
type SnapshotUpload struct{}

// PublishSnapshots says whether the node publishes its snapshots by itself from now on. The
// setting stays on the volume; the task is done as soon as it is written.
type PublishSnapshots struct {
	// Keep is how many of the chain's snapshots stay in the bucket; 0 ends publishing.
	Keep int32 `json:"keep"`
}

// maxKeep is the bound that the API of the operator has, too.
const maxKeep = 1000

// Validate checks what can be checked without the node.
func (p *PublishSnapshots) Validate() error {
	if p.Keep < 0 || p.Keep > maxKeep {
		return api.InvalidField("keep", "%d is not between 0 and %d", p.Keep, maxKeep)
	}
	return nil
}

// The outcomes of snapshot-upload-once and why nothing was uploaded.
const (
	OutcomeUploaded = "uploaded"
	OutcomeNoop     = "noop"
	OutcomeError    = "error"

	NoopFewSnapshots    = "fewer-than-2-snapshots"
	NoopAlreadyUploaded = "already-uploaded"
	NoopNoneComplete    = "no-complete-snapshot"
)

// UploadedSnapshot is the result of snapshot-upload-once.
type UploadedSnapshot struct {
	Outcome    string `json:"outcome"`
	NoopReason string `json:"noopReason,omitempty"`
	Height     int64  `json:"height,omitempty"`
	Key        string `json:"key,omitempty"`
	SHA256     string `json:"sha256,omitempty"`
	Bytes      int64  `json:"bytes,omitempty"`
}
