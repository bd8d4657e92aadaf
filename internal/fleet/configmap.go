package fleet

import (
	"maps"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// GenesisConfigMap holds the genesis of the fleet's chain. It cannot change: a node
// with another genesis is on another chain. Without data it only vouches for the hash
// of a genesis that is too large for it and lies in the bucket.
func GenesisConfigMap(snd *v1alpha1.SeiNodeDeployment, packed []byte, hash string) *corev1ac.ConfigMapApplyConfiguration {
	labels := maps.Clone(objectLabels(snd))
	labels[v1alpha1.LabelGenesis] = snd.Spec.Genesis.ChainID
	annotations := map[string]string{v1alpha1.AnnotationGenesisHash: hash}
	if packed == nil {
		annotations[v1alpha1.AnnotationGenesisInBucket] = "true"
	}
	c := corev1ac.ConfigMap(GenesisName(snd.Name), snd.Namespace).
		WithLabels(labels).
		WithAnnotations(annotations).
		WithOwnerReferences(ownerReference(snd)).
		WithImmutable(true)
	if packed != nil {
		c.WithBinaryData(map[string][]byte{v1alpha1.GenesisDataKey: packed})
	}
	return c
}
