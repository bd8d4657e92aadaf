package lint

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// genesisConfigMap compares the genesis in a ConfigMap with the checksum that it carries. It is
// false for other ConfigMaps.
func genesisConfigMap(o *object) (bool, []Finding) {
	if o.GetLabels()[v1alpha1.LabelGenesis] == "" || o.GetAnnotations()[v1alpha1.AnnotationGenesisInBucket] != "" {
		return false, nil
	}
	var stored corev1.ConfigMap
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &stored); err != nil {
		return true, []Finding{o.finding(Error, "", err.Error())}
	}
	data := "binaryData[" + v1alpha1.GenesisDataKey + "]"
	file, err := fleet.ReadGenesis(stored.BinaryData[v1alpha1.GenesisDataKey])
	if err != nil {
		return true, []Finding{o.finding(Error, data, err.Error())}
	}
	if noted := stored.Annotations[v1alpha1.AnnotationGenesisHash]; noted != file.Hash {
		return true, []Finding{o.finding(Error, "metadata.annotations["+v1alpha1.AnnotationGenesisHash+"]",
			fmt.Sprintf("the annotation says %q, and the SHA-256 of the genesis is %s", noted, file.Hash))}
	}
	return true, nil
}
