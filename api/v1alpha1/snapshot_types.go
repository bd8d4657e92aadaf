package v1alpha1

// SnapshotSource says where a new node gets its first state from.
// +kubebuilder:validation:XValidation:rule="has(self.s3) != has(self.stateSync)",message="a snapshot is exactly one of s3 and stateSync: remove one, or set one"
// +kubebuilder:validation:XValidation:rule="!has(self.bootstrapImage) || (has(self.s3) && has(self.s3.targetHeight))",message="bootstrapImage needs s3 with a targetHeight: it replays from a stored snapshot to that height"
type SnapshotSource struct {
	// s3 restores a snapshot from the snapshot bucket of the operator's
	// configuration, whatever the provider of that bucket.
	// +optional
	S3 *S3Snapshot `json:"s3,omitempty"`
	// stateSync fetches a snapshot from peers.
	// +optional
	StateSync *StateSyncSnapshot `json:"stateSync,omitempty"`
	// trustPeriod is how old a trusted header may be, for example 9999h0m0s.
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(\.[0-9]{1,9})?(ns|us|µs|ms|s|m|h)){1,6}$`
	// +optional
	TrustPeriod string `json:"trustPeriod,omitempty"`
	// backfillBlocks is how many blocks below the snapshot are fetched too.
	// +kubebuilder:validation:Minimum=0
	// +optional
	BackfillBlocks int64 `json:"backfillBlocks,omitempty"`
	// bootstrapImage runs to s3.targetHeight in a Job on the node's volume before
	// the node itself starts. Without it there is no such Job.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	BootstrapImage string `json:"bootstrapImage,omitempty"`
	// rpcServers are the light client's witnesses, host:port or an http or https
	// URL each, at least two. Empty takes the configured ones of the chain, then
	// the nodes of spec.peers' labels that are in sync, then the other peers.
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	// +optional
	RPCServers []HostPort `json:"rpcServers,omitempty"`
}

// HostPort is the address of an RPC server: host:port, or a URL such as
// https://rpc.example.com/sei, without credentials and query.
// +kubebuilder:validation:Pattern=`^(([^\s:/,@"]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}|https?://([^\s:/,@"?#\[\]]+|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?(/[^\s,"?#]*)?)$`
// +kubebuilder:validation:MaxLength=512
type HostPort string

// S3Snapshot picks a snapshot from the snapshot bucket.
type S3Snapshot struct {
	// targetHeight is the highest block that a snapshot may have: the newest complete
	// snapshot up to it is restored, and without it the newest of all. With a
	// bootstrapImage it is required, and the Job runs up to exactly this height.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TargetHeight int64 `json:"targetHeight,omitempty"`
	// requireVerified passes over snapshots without a manifest. Without it such
	// a snapshot is compared with its own index only.
	// +optional
	RequireVerified bool `json:"requireVerified,omitempty"`
}

// StateSyncSnapshot asks for state sync. It has no fields.
type StateSyncSnapshot struct{}

// SnapshotGeneration makes the node produce snapshots.
// +kubebuilder:validation:XValidation:rule="has(self.tendermint)",message="snapshotGeneration is empty: set tendermint with keepRecent, or remove snapshotGeneration"
type SnapshotGeneration struct {
	// tendermint snapshots are the ones state sync serves.
	// +optional
	Tendermint *TendermintSnapshotGeneration `json:"tendermint,omitempty"`
}

// TendermintSnapshotGeneration configures state sync snapshots.
// +kubebuilder:validation:XValidation:rule="!has(self.publish) || self.keepRecent >= 2",message="publish needs keepRecent of at least 2: a snapshot has to stay on the volume until its upload begins, while seid makes the next one"
type TendermintSnapshotGeneration struct {
	// keepRecent is how many snapshots stay on the volume.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	KeepRecent int32 `json:"keepRecent"`
	// publish uploads every snapshot that the node finishes while it is in sync
	// to the snapshot bucket of the operator's configuration.
	// +optional
	Publish *SnapshotPublish `json:"publish,omitempty"`
}

// DefaultPublishKeep is the default of publish.keep.
const DefaultPublishKeep = 5

// SnapshotPublish says how snapshots are published.
type SnapshotPublish struct {
	// keep is how many published snapshots of the chain stay in the bucket. Older
	// ones are deleted, whichever node has published them; what other programs put
	// there is left alone.
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Keep int32 `json:"keep,omitempty"`
}
