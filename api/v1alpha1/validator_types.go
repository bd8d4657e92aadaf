package v1alpha1

// The names under which a validator's operator key is looked up in its keyring.
const (
	// DefaultOperatorKeyName is used with a keyring Secret that names no key.
	DefaultOperatorKeyName = "node_admin"
	// GentxOperatorKeyName is the key a genesis ceremony writes.
	GentxOperatorKeyName = "validator"
)

// ValidatorSpec is a node that signs blocks.
// +kubebuilder:validation:XValidation:rule="has(self.signingKey) == has(self.nodeKey)",message="signingKey and nodeKey come together: set both or neither"
// +kubebuilder:validation:XValidation:rule="!(has(self.signingKey) && has(self.genesisCeremony))",message="signingKey excludes genesisCeremony: a ceremony generates the signing key in the pod"
// +kubebuilder:validation:XValidation:rule="!(has(self.signingKey) && has(self.nodeKey)) || self.signingKey.secret.secretName != self.nodeKey.secret.secretName",message="signingKey and nodeKey need different Secrets"
// +kubebuilder:validation:XValidation:rule="!(has(self.signingKey) && has(self.operatorKeyring) && has(self.operatorKeyring.secret)) || (self.operatorKeyring.secret.secretName != self.signingKey.secret.secretName && self.operatorKeyring.secret.passphraseSecretRef.secretName != self.signingKey.secret.secretName)",message="operatorKeyring needs Secrets of its own: neither its data nor its passphrase may sit in the signingKey's Secret"
// +kubebuilder:validation:XValidation:rule="!(has(self.nodeKey) && has(self.operatorKeyring) && has(self.operatorKeyring.secret)) || (self.operatorKeyring.secret.secretName != self.nodeKey.secret.secretName && self.operatorKeyring.secret.passphraseSecretRef.secretName != self.nodeKey.secret.secretName)",message="operatorKeyring needs Secrets of its own: neither its data nor its passphrase may sit in the nodeKey's Secret"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.signingKey) || (has(self.signingKey) && self.signingKey == oldSelf.signingKey)",message="signingKey can be neither changed nor removed: a validator with another key is another validator; make a new SeiNode"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.nodeKey) || (has(self.nodeKey) && self.nodeKey == oldSelf.nodeKey)",message="nodeKey can be neither changed nor removed: peers know the node by this identity; make a new SeiNode"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.operatorKeyring) || !has(oldSelf.operatorKeyring.secret) || (has(self.operatorKeyring) && has(self.operatorKeyring.secret) && self.operatorKeyring.secret.secretName == oldSelf.operatorKeyring.secret.secretName && self.operatorKeyring.secret.passphraseSecretRef == oldSelf.operatorKeyring.secret.passphraseSecretRef)",message="operatorKeyring's Secrets can be neither changed nor removed; keyName may change"
type ValidatorSpec struct {
	// snapshot is where the first state comes from.
	// +optional
	Snapshot *SnapshotSource `json:"snapshot,omitempty"`
	// genesisCeremony makes the node take part in a genesis ceremony. It is
	// written by the SeiNodeDeployment controller.
	// +optional
	GenesisCeremony *GenesisCeremonyMember `json:"genesisCeremony,omitempty"`
	// signingKey is the consensus key, handed in by a Secret.
	// +optional
	SigningKey *SigningKeySource `json:"signingKey,omitempty"`
	// nodeKey is the node's identity, handed in by a Secret.
	// +optional
	NodeKey *NodeKeySource `json:"nodeKey,omitempty"`
	// operatorKeyring holds the account that signs governance transactions.
	// Empty means the test keyring on the node's volume.
	// +optional
	OperatorKeyring *OperatorKeyringSource `json:"operatorKeyring,omitempty"`
}

// GenesisCeremonyMember is one validator's part in a ceremony.
type GenesisCeremonyMember struct {
	// chainId of the new chain.
	// +kubebuilder:validation:MinLength=1
	ChainID string `json:"chainId"`
	// stakingAmount this validator delegates to itself, for example 10000000usei.
	// +kubebuilder:validation:MinLength=1
	StakingAmount string `json:"stakingAmount"`
	// accountBalance this validator's account starts with.
	// +kubebuilder:validation:MinLength=1
	AccountBalance string `json:"accountBalance"`
	// index of the validator among its peers.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=99
	// +optional
	Index int32 `json:"index,omitempty"`
}

// SigningKeySource says where the consensus key is.
type SigningKeySource struct {
	// secret with the data key priv_validator_key.json.
	Secret KeySecret `json:"secret"`
}

// NodeKeySource says where the node key is.
type NodeKeySource struct {
	// secret with the data key node_key.json.
	Secret KeySecret `json:"secret"`
}

// KeySecret names a Secret in the node's namespace.
type KeySecret struct {
	// secretName is the name of the Secret. In the template of a SeiNodeDeployment $(ORDINAL)
	// stands for the ordinal of the node.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`
}

// OperatorKeyringSource says where the operator's keyring is.
type OperatorKeyringSource struct {
	// secret with an encrypted file keyring. Absent means the test keyring on
	// the node's volume, as a genesis ceremony leaves it.
	// +optional
	Secret *OperatorKeyringSecret `json:"secret,omitempty"`
}

// OperatorKeyringSecret names the Secrets of an encrypted keyring.
// +kubebuilder:validation:XValidation:rule="self.secretName != self.passphraseSecretRef.secretName",message="the keyring and its passphrase need different Secrets"
type OperatorKeyringSecret struct {
	// secretName is the Secret whose data keys are the files of the keyring
	// (*.info and *.address). In the template of a SeiNodeDeployment $(ORDINAL)
	// stands for the ordinal of the node, here and in passphraseSecretRef.secretName.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`
	// keyName is the key that signs.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_-]+$`
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:default=node_admin
	// +optional
	KeyName string `json:"keyName,omitempty"`
	// passphraseSecretRef is where the passphrase is.
	PassphraseSecretRef SecretKeyRef `json:"passphraseSecretRef"`
}

// SecretKeyRef names one data key of a Secret in the same namespace.
type SecretKeyRef struct {
	// secretName is the name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`
	// key is the data key.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// SigningUID is the name of the key that signs governance transactions for this
// validator: the one that is named, else node_admin with a keyring Secret, else
// the key a ceremony writes.
func (v *ValidatorSpec) SigningUID() string {
	if v == nil || v.OperatorKeyring == nil || v.OperatorKeyring.Secret == nil {
		return GentxOperatorKeyName
	}
	if name := v.OperatorKeyring.Secret.KeyName; name != "" {
		return name
	}
	return DefaultOperatorKeyName
}
