package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// TemplateHash identifies the template a pod with these annotations was made
// from. It changes with anything that is rendered into the pod.
func TemplateHash(podAnnotations map[string]string) string {
	return podAnnotations[AnnotationTemplateHash]
}

// SpecHash identifies what the SeiNode asked for when a pod with these
// annotations was made. Two pods with the same SpecHash and another TemplateHash
// differ because the operator or its configuration changed, not the user's wish.
func SpecHash(podAnnotations map[string]string) string {
	return podAnnotations[AnnotationSpecHash]
}

// stampHashes writes both hashes onto a template that has neither yet.
func stampHashes(template *corev1ac.PodTemplateSpecApplyConfiguration, in Input) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	templateHash, err := hashOf(template)
	if err != nil {
		return nil, fmt.Errorf("hashing pod template: %w", err)
	}
	specHash, err := hashOf(podInputsOf(in))
	if err != nil {
		return nil, fmt.Errorf("hashing pod inputs: %w", err)
	}
	return template.WithAnnotations(map[string]string{
		AnnotationTemplateHash: templateHash,
		AnnotationSpecHash:     specHash,
	}), nil
}

// podInputs are the fields of a SeiNode that feed its pod template. The JSON
// names are part of the hash: renaming one restarts every node.
type podInputs struct {
	ChainID          string                       `json:"chainId"`
	Role             string                       `json:"role"`
	Image            string                       `json:"image"`
	SidecarImage     string                       `json:"sidecarImage,omitempty"`
	SidecarPort      int32                        `json:"sidecarPort"`
	SidecarResources *corev1.ResourceRequirements `json:"sidecarResources,omitempty"`
	PodLabels        map[string]string            `json:"podLabels,omitempty"`
	Resources        *corev1.ResourceRequirements `json:"resources,omitempty"`
	Scheduling       *v1alpha1.SchedulingSpec     `json:"scheduling,omitempty"`
	ImportedClaim    string                       `json:"importedClaim,omitempty"`
	SigningKey       string                       `json:"signingKey,omitempty"`
	NodeKey          string                       `json:"nodeKey,omitempty"`
	Keyring          string                       `json:"keyring,omitempty"`
	Passphrase       *v1alpha1.SecretKeyRef       `json:"passphrase,omitempty"`
	Restart          string                       `json:"restart,omitempty"`
	P2PHostPort      int32                        `json:"p2pHostPort,omitempty"`
	// What later versions added is left out when it is unset, so that the hash stays.
	PodAnnotations    map[string]string           `json:"podAnnotations,omitempty"`
	ImagePullSecrets  []v1alpha1.ImagePullSecret  `json:"imagePullSecrets,omitempty"`
	ExtraEnv          []v1alpha1.ExtraEnvVar      `json:"extraEnv,omitempty"`
	ExtraVolumes      []v1alpha1.ExtraVolume      `json:"extraVolumes,omitempty"`
	ExtraVolumeMounts []v1alpha1.ExtraVolumeMount `json:"extraVolumeMounts,omitempty"`
}

// podInputsOf holds effective values where the API has a default, so that
// writing the default down is not a change. The labels are the pod's own, among
// them the fleet's and the one that marks publishers.
func podInputsOf(in Input) podInputs {
	node, spec := in.Node, &in.Node.Spec
	inputs := podInputs{
		ChainID:       spec.ChainID,
		Role:          spec.Role(),
		Image:         in.seidImage(),
		SidecarPort:   SidecarPort(node),
		PodLabels:     requestedLabels(node),
		Resources:     spec.Resources,
		Scheduling:    spec.Scheduling,
		ImportedClaim: spec.ImportedClaim(),
		SigningKey:    spec.SigningKeySecret(),
		NodeKey:       spec.NodeKeySecret(),
		Restart:       node.Annotations[v1alpha1.AnnotationRestart],
		P2PHostPort:   spec.P2PHostPort,

		PodAnnotations:    requestedAnnotations(node),
		ImagePullSecrets:  spec.ImagePullSecrets,
		ExtraEnv:          spec.ExtraEnv,
		ExtraVolumes:      spec.ExtraVolumes,
		ExtraVolumeMounts: spec.ExtraVolumeMounts,
	}
	if spec.Sidecar != nil {
		inputs.SidecarImage = spec.Sidecar.Image
		inputs.SidecarResources = spec.Sidecar.Resources
	}
	if keyring := spec.OperatorKeyringSecret(); keyring != nil {
		inputs.Keyring = keyring.SecretName
		inputs.Passphrase = &keyring.PassphraseSecretRef
	}
	return inputs
}

// PreparationHash identifies where a node's first state and genesis come from.
func PreparationHash(node *v1alpha1.SeiNode) string {
	var ceremony *v1alpha1.GenesisCeremonyMember
	if v := node.Spec.Validator; v != nil {
		ceremony = v.GenesisCeremony
	}
	// A struct of plain fields always encodes.
	hash, _ := hashOf(struct {
		Snapshot *v1alpha1.SnapshotSource        `json:"snapshot,omitempty"`
		Ceremony *v1alpha1.GenesisCeremonyMember `json:"ceremony,omitempty"`
	}{node.Spec.Snapshot(), ceremony})
	return hash
}

// hashOf is the first 16 hex digits of the SHA-256 of a value's canonical JSON:
// decoded and encoded again, so that keys are sorted and the order of a struct's
// fields in some library does not matter.
func hashOf(value any) (string, error) {
	tree, err := jsonTree(value)
	if err != nil {
		return "", err
	}
	canonical, err := json.Marshal(tree)
	if err != nil {
		return "", fmt.Errorf("encoding canonical form: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])[:16], nil
}
