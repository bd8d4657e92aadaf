package v1alpha1

import "cmp"

// Role is the value of the label sei.io/role for this spec; empty for a mode that is not known.
func (s *SeiNodeSpec) Role() string {
	switch {
	case s.FullNode != nil:
		return RoleNode
	case s.Archive != nil:
		return RoleArchive
	case s.Replayer != nil:
		return RoleReplayer
	case s.Validator != nil:
		return RoleValidator
	case s.Seed != nil:
		return RoleSeed
	default:
		return ""
	}
}

// Snapshot is where the node's first state comes from; nil means genesis.
func (s *SeiNodeSpec) Snapshot() *SnapshotSource {
	switch {
	case s.FullNode != nil:
		return s.FullNode.Snapshot
	case s.Replayer != nil:
		return &s.Replayer.Snapshot
	case s.Validator != nil:
		return s.Validator.Snapshot
	default:
		return nil
	}
}

// TendermintSnapshots is the node's snapshot generation; nil means none.
func (s *SeiNodeSpec) TendermintSnapshots() *TendermintSnapshotGeneration {
	var g *SnapshotGeneration
	switch {
	case s.FullNode != nil:
		g = s.FullNode.SnapshotGeneration
	case s.Archive != nil:
		g = s.Archive.SnapshotGeneration
	}
	if g == nil {
		return nil
	}
	return g.Tendermint
}

// PublishKeep is how many published snapshots stay in the bucket; 0 means that none are published.
func (s *SeiNodeSpec) PublishKeep() int32 {
	snapshots := s.TendermintSnapshots()
	if snapshots == nil || snapshots.Publish == nil {
		return 0
	}
	return cmp.Or(snapshots.Publish.Keep, DefaultPublishKeep)
}

// SigningKeySecret is the name of the consensus key's Secret; empty means none.
func (s *SeiNodeSpec) SigningKeySecret() string {
	if s.Validator == nil || s.Validator.SigningKey == nil {
		return ""
	}
	return s.Validator.SigningKey.Secret.SecretName
}

// Signs reports whether the node signs blocks.
func (s *SeiNodeSpec) Signs() bool { return s.Validator != nil }

// NodeKeySecret is the name of the node key's Secret; empty means none.
func (s *SeiNodeSpec) NodeKeySecret() string {
	switch {
	case s.Validator != nil && s.Validator.NodeKey != nil:
		return s.Validator.NodeKey.Secret.SecretName
	case s.Seed != nil:
		return s.Seed.NodeKey.Secret.SecretName
	default:
		return ""
	}
}

// OperatorKeyringSecret names the Secrets of the operator's keyring; nil means none.
func (s *SeiNodeSpec) OperatorKeyringSecret() *OperatorKeyringSecret {
	if s.Validator == nil || s.Validator.OperatorKeyring == nil {
		return nil
	}
	return s.Validator.OperatorKeyring.Secret
}

// ImportedClaim is the name of the claim the node takes over; empty means none.
func (s *SeiNodeSpec) ImportedClaim() string {
	if s.DataVolume == nil || s.DataVolume.Import == nil {
		return ""
	}
	return s.DataVolume.Import.PVCName
}

// VolumeRetention is what becomes of the node's volume: as asked for, or else by its mode. What a
// validator has signed and what an archive has gathered cannot be had again.
func (s *SeiNodeSpec) VolumeRetention() VolumeRetention {
	if s.ImportedClaim() != "" {
		return VolumeRetention{WhenDeleted: VolumeRetain, WhenScaled: VolumeRetain}
	}
	rest := VolumeDelete
	if s.Validator != nil || s.Archive != nil {
		rest = VolumeRetain
	}
	var asked VolumeRetention
	if v := s.DataVolume; v != nil {
		rest = cmp.Or(v.DeletionPolicy, rest)
		if v.Retention != nil {
			asked = *v.Retention
		}
	}
	return VolumeRetention{WhenDeleted: cmp.Or(asked.WhenDeleted, rest), WhenScaled: cmp.Or(asked.WhenScaled, rest)}
}
