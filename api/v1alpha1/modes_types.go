package v1alpha1

// FullNodeSpec is a node that follows the chain and serves RPC.
type FullNodeSpec struct {
	// snapshot is where the first state comes from. Without one the node
	// replays the chain from genesis.
	// +optional
	Snapshot *SnapshotSource `json:"snapshot,omitempty"`
	// snapshotGeneration makes the node produce snapshots.
	// +optional
	SnapshotGeneration *SnapshotGeneration `json:"snapshotGeneration,omitempty"`
}

// ArchiveSpec is a node that keeps all history. It replays the chain from
// genesis, because a snapshot would leave a hole.
type ArchiveSpec struct {
	// snapshotGeneration makes the node produce snapshots.
	// +optional
	SnapshotGeneration *SnapshotGeneration `json:"snapshotGeneration,omitempty"`
}

// ReplayerSpec is a node that replays blocks from a stored snapshot on.
// +kubebuilder:validation:XValidation:rule="has(self.snapshot.s3)",message="a replayer starts from a stored snapshot: set snapshot.s3"
type ReplayerSpec struct {
	// snapshot is where replay starts; it has to be s3.
	Snapshot SnapshotSource `json:"snapshot"`
	// resultExport compares and exports the results of replayed blocks.
	// +optional
	ResultExport *ResultExport `json:"resultExport,omitempty"`
}

// ResultExport says what is done with replayed results.
// +kubebuilder:validation:XValidation:rule="has(self.shadowResult)",message="resultExport is empty: set shadowResult with canonicalRpc, or remove resultExport"
type ResultExport struct {
	// shadowResult compares every block with that of another node, and writes what it finds to
	// the bucket that the operator is configured with. It ends at the first block that differs;
	// condition ResultsMatch says which.
	// +optional
	ShadowResult *ShadowResult `json:"shadowResult,omitempty"`
}

// ShadowResult compares the replayer's results with a canonical node's.
type ShadowResult struct {
	// canonicalRpc is the RPC address of the node that is right by definition, as host:26657 or
	// https://host/path. When it changes, the comparison resumes at the block that differed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CanonicalRPC string `json:"canonicalRpc"`
}

// SeedSpec is a node that only hands out peer addresses. It serves no RPC,
// REST, gRPC or EVM.
// +kubebuilder:validation:XValidation:rule="self.nodeKey == oldSelf.nodeKey",message="nodeKey cannot change: other nodes know the seed by this identity; make a new SeiNode"
type SeedSpec struct {
	// nodeKey is the identity other nodes know the seed by.
	NodeKey NodeKeySource `json:"nodeKey"`
}
