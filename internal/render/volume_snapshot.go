package render

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// VolumeSnapshotKind is the kind of a backup of a volume. Its types are not needed for one object.
var VolumeSnapshotKind = schema.GroupVersionKind{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshot"}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// UpgradeSnapshotName is the name of the backup of a node's volume before an upgrade. Names of
// upgrades that are no names of objects are told apart by a hash.
func UpgradeSnapshotName(node *v1alpha1.SeiNode, upgrade string) string {
	name := node.Name + "-before-" + upgrade
	if len(validation.IsDNS1123Subdomain(name)) == 0 {
		return name
	}
	sum := sha256.Sum256([]byte(upgrade))
	plain := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(upgrade), "-"), "-")
	return fmt.Sprintf("%s-before-%.100s-%x", node.Name, plain, sum[:4])
}

// UpgradeSnapshotLabels find the backups of a node.
func UpgradeSnapshotLabels(node *v1alpha1.SeiNode) map[string]string {
	return map[string]string{v1alpha1.LabelNode: node.Name, v1alpha1.LabelComponent: v1alpha1.ComponentUpgradeSnapshot}
}

// UpgradeSnapshot is the backup of a node's volume before an upgrade. Nobody owns it: it outlives
// the node.
func UpgradeSnapshot(in Input, upgrade string) *unstructured.Unstructured {
	spec := map[string]any{"source": map[string]any{"persistentVolumeClaimName": ClaimName(in.Node)}}
	if class := in.Platform.VolumeSnapshots.ClassName; class != "" {
		spec["volumeSnapshotClassName"] = class
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(VolumeSnapshotKind)
	obj.SetNamespace(in.Node.Namespace)
	obj.SetName(UpgradeSnapshotName(in.Node, upgrade))
	obj.SetLabels(UpgradeSnapshotLabels(in.Node))
	return obj
}
