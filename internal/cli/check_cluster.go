package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/version"
)

// minKubernetes is the oldest version that is supported; docs/how-to/install.md says the same.
const minKubernetes = "1.34.0"

const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class"

func checkKubernetes(_ context.Context, c *checkup) []checkResult {
	info, err := c.Kubernetes.Discovery().ServerVersion()
	if err != nil {
		return failed("the API server version is unknown: %v", err)
	}
	v, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		return unseen("version %q cannot be read", info.GitVersion)
	}
	if v.LessThan(version.MustParseGeneric(minKubernetes)) {
		return failed("version %s is too old: %s or newer is needed", info.GitVersion, strings.TrimSuffix(minKubernetes, ".0"))
	}
	return passed("version %s", info.GitVersion)
}

func checkStorage(ctx context.Context, c *checkup) []checkResult {
	var classes storagev1.StorageClassList
	if err := c.Client.List(ctx, &classes); err != nil {
		return unseen("storage classes cannot be listed: %v", err)
	}
	wanted, others := c.storageClasses()
	var results []checkResult
	if usual := defaultClass(classes.Items); others && usual != "" {
		wanted = append(wanted, usual)
	} else if others {
		results = failed("no storage class is the default, and the platform configuration has no storage.default.className: " +
			"set it there, or mark a class as the default")
	}
	slices.Sort(wanted)
	for _, name := range slices.Compact(wanted) {
		i := slices.IndexFunc(classes.Items, func(s storagev1.StorageClass) bool { return s.Name == name })
		if i < 0 {
			results = append(results, failed("the platform configuration names storage class %s, which does not exist", name)...)
			continue
		}
		results = append(results, judgeClass(&classes.Items[i])...)
	}
	return results
}

func defaultClass(classes []storagev1.StorageClass) string {
	for _, class := range classes {
		if class.Annotations[defaultClassAnnotation] == "true" {
			return class.Name
		}
	}
	return ""
}

func judgeClass(class *storagev1.StorageClass) []checkResult {
	var problems []string
	if class.AllowVolumeExpansion == nil || !*class.AllowVolumeExpansion {
		problems = append(problems, "has no allowVolumeExpansion, so that dataVolume.size cannot grow")
	}
	if class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		problems = append(problems, "binds volumes before the pod is scheduled (volumeBindingMode is not WaitForFirstConsumer), "+
			"so that a volume may be in a zone without room for the pod")
	}
	if len(problems) > 0 {
		return warned("storage class %s %s", class.Name, strings.Join(problems, "; it "))
	}
	return passed("storage class %s", class.Name)
}

func checkVolumeSnapshots(_ context.Context, c *checkup) []checkResult {
	served, err := c.serves("snapshot.storage.k8s.io/v1", "volumesnapshots")
	switch {
	case err != nil:
		return unseen("%v", err)
	case served:
		return passed("snapshot.storage.k8s.io/v1 is served")
	case c.operator != nil && c.operator.config.VolumeSnapshots.BeforeUpgrades:
		return failed("the platform configuration asks for backups before upgrades, and the cluster does not serve snapshot.storage.k8s.io/v1: " +
			"install the CSI snapshot controller and its CRDs")
	default:
		return warned("snapshot.storage.k8s.io/v1 is not served: upgrades cannot back up volumes; install the CSI snapshot controller and its CRDs to have that")
	}
}

func checkGateway(_ context.Context, c *checkup) []checkResult {
	served, err := c.serves("gateway.networking.k8s.io/v1", "httproutes")
	switch {
	case err != nil:
		return unseen("%v", err)
	case served && (c.operator == nil || c.operator.config.Gateway.Name != ""):
		return passed("gateway.networking.k8s.io/v1 is served")
	case served:
		return warned("gateway.networking.k8s.io/v1 is served, and the platform configuration names no gateway: fleets publish no HTTP endpoints")
	case c.operator != nil && c.operator.config.Gateway.Name != "":
		return failed("the platform configuration names Gateway %s, and the cluster does not serve gateway.networking.k8s.io/v1: install the Gateway API",
			c.operator.config.Gateway.Name)
	default:
		return warned("gateway.networking.k8s.io/v1 is not served: fleets with networking.http publish nothing; install the Gateway API to have that")
	}
}

// serves reports whether the API server has a resource.
func (c *checkup) serves(groupVersion, resource string) (bool, error) {
	list, err := c.Kubernetes.Discovery().ServerResourcesForGroupVersion(groupVersion)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("discovering %s: %w", groupVersion, err)
	}
	for _, r := range list.APIResources {
		if r.Name == resource {
			return true, nil
		}
	}
	return false, nil
}
