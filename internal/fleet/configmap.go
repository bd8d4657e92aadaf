package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// GenesisConfigMap holds the genesis of the fleet's chain. It cannot change: a node
// with another genesis is on another chain. Without data it only vouches for the hash
// of a genesis that is too large for it and lies in the bucket.
func GenesisConfigMap(snd *v1alpha1.SeiNodeDeployment, packed []byte, file GenesisFile) *corev1ac.ConfigMapApplyConfiguration {
	labels := maps.Clone(objectLabels(snd))
	labels[v1alpha1.LabelGenesis] = snd.Spec.Genesis.ChainID
	annotations := map[string]string{v1alpha1.AnnotationGenesisHash: file.Hash}
	if len(file.Validators) > 0 {
		annotations[v1alpha1.AnnotationGenesisValidators] = strings.Join(file.Validators, ",")
	}
	if packed == nil {
		annotations[v1alpha1.AnnotationGenesisInBucket] = "true"
	}
	c := corev1ac.ConfigMap(GenesisName(snd.Name), snd.Namespace).
		WithLabels(labels).
		WithAnnotations(annotations).
		WithAnnotations(ownerAnnotations(snd)).
		WithOwnerReferences(ownerReferences(snd)...).
		WithImmutable(true)
	if packed != nil {
		c.WithBinaryData(map[string][]byte{v1alpha1.GenesisDataKey: packed})
	}
	return c
}

// GenesisProblem says why the ConfigMap under the fleet's name cannot be the genesis of its
// chain. hash is that of the genesis the chain began with; empty when it has not begun yet, and
// then the content is looked at too.
func GenesisProblem(snd *v1alpha1.SeiNodeDeployment, live *corev1.ConfigMap, hash string) string {
	if problem := MayAdopt(snd, "ConfigMap", live); problem != "" {
		return problem
	}
	noted := live.Annotations[v1alpha1.AnnotationGenesisHash]
	switch {
	case hash != "" && noted != hash:
		return fmt.Sprintf("ConfigMap %s holds the genesis with SHA-256 %q, but the chain started with %s: "+
			"delete the ConfigMap, and the right one is restored from a node", live.Name, noted, hash)
	case hash != "":
		return ""
	case live.Labels[v1alpha1.LabelGenesis] != snd.Spec.Genesis.ChainID:
		return fmt.Sprintf("ConfigMap %s already exists and holds no genesis of chain %s: delete or rename it", live.Name, snd.Spec.Genesis.ChainID)
	case noted == "":
		return fmt.Sprintf("ConfigMap %s has no annotation %s: delete it", live.Name, v1alpha1.AnnotationGenesisHash)
	case live.Annotations[v1alpha1.AnnotationGenesisInBucket] != "":
		return ""
	}
	file, err := ReadGenesis(live.BinaryData[v1alpha1.GenesisDataKey])
	if err != nil {
		return fmt.Sprintf("ConfigMap %s holds no genesis in %s: %v: delete it", live.Name, v1alpha1.GenesisDataKey, err)
	}
	if file.Hash != noted {
		return fmt.Sprintf("ConfigMap %s holds a genesis with SHA-256 %s, but says that it is %s: delete it", live.Name, file.Hash, noted)
	}
	return ""
}

// GenesisValidators are the consensus addresses that the genesis lists; nil when it cannot be determined.
// A ConfigMap of an older operator does not note them, so the file is read.
func GenesisValidators(stored *corev1.ConfigMap) []string {
	if noted := stored.Annotations[v1alpha1.AnnotationGenesisValidators]; noted != "" {
		return strings.Split(noted, ",")
	}
	file, err := ReadGenesis(stored.BinaryData[v1alpha1.GenesisDataKey])
	if err != nil {
		return nil
	}
	return file.Validators
}

// AdoptedGenesis is a ConfigMap with the fleet as its owner, as the fleet's policy has it, and with
// a note of the validators.
func AdoptedGenesis(snd *v1alpha1.SeiNodeDeployment, found *corev1.ConfigMap) *corev1.ConfigMap {
	c := found.DeepCopy()
	if Retains(snd) {
		Unbind(snd, c)
		maps.Copy(c.Annotations, ownerAnnotations(snd))
	} else if !metav1.IsControlledBy(c, snd) {
		c.OwnerReferences = append(c.OwnerReferences, *OwnerReference(snd))
		delete(c.Annotations, v1alpha1.AnnotationDeploymentUID)
	}
	if c.Annotations[v1alpha1.AnnotationGenesisValidators] == "" {
		if validators := GenesisValidators(c); len(validators) > 0 {
			c.Annotations[v1alpha1.AnnotationGenesisValidators] = strings.Join(validators, ",")
		}
	}
	return c
}

// NotInGenesis says why a validator of the fleet is no validator of the chain that the fleet has
// started; empty when it is one, or when it cannot be determined.
func NotInGenesis(node *v1alpha1.SeiNode, validators []string) string {
	if node == nil || len(validators) == 0 {
		return ""
	}
	address := node.Status.ConsensusAddress
	if address == "" || slices.Contains(validators, address) {
		return ""
	}
	return fmt.Sprintf("its consensus key %s is not in the genesis of %s: its keys are new, and the validator it replaces was lost with its volume. "+
		"Restore that volume, or register the new key with a create-validator transaction", address, node.Spec.ChainID)
}
