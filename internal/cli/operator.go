package cli

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/internal/platform"
)

const (
	operatorName       = "sei-operator"
	operatorLabel      = "app.kubernetes.io/name"
	operatorContainer  = "manager"
	operatorConfigName = "sei-operator-config"
	operatorConfigKey  = "config.yaml"
)

// installedOperator is the operator of a cluster, as far as the user may see it.
type installedOperator struct {
	deployment *appsv1.Deployment
	// config is the platform configuration; that of an operator without one if it cannot be read.
	config *platform.Config
}

// findOperator looks for the operator's Deployment in a namespace, or in all; nil when it sees none.
func findOperator(ctx context.Context, c *Cluster, namespace string) *installedOperator {
	var list appsv1.DeploymentList
	err := c.Client.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{operatorLabel: operatorName})
	if err != nil || len(list.Items) == 0 {
		return nil
	}
	o := &installedOperator{deployment: &list.Items[0], config: platform.Default()}
	var stored corev1.ConfigMap
	key := client.ObjectKey{Namespace: o.deployment.Namespace, Name: operatorConfigName}
	if err := c.Client.Get(ctx, key, &stored); err != nil {
		return o
	}
	// A file that the operator refuses keeps it from starting, which shows elsewhere.
	config := platform.Default()
	if yaml.Unmarshal([]byte(stored.Data[operatorConfigKey]), config) == nil {
		o.config = config
	}
	return o
}

// image is that of the manager.
func (o *installedOperator) image() string {
	for _, c := range o.deployment.Spec.Template.Spec.Containers {
		if c.Name == operatorContainer {
			return c.Image
		}
	}
	return ""
}

// version is the tag of the image; empty when it has none.
func (o *installedOperator) version() string {
	image, _, _ := strings.Cut(o.image(), "@")
	if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
		return image[i+1:]
	}
	return ""
}

// account is the user name of the operator's service account.
func (o *installedOperator) account() string {
	return "system:serviceaccount:" + o.deployment.Namespace + ":" + o.deployment.Spec.Template.Spec.ServiceAccountName
}

// storageClasses are the classes that the platform configuration names, and whether nodes are left
// that take the cluster's default.
func (c *checkup) storageClasses() (names []string, others bool) {
	if c.operator == nil {
		return nil, true
	}
	storage := c.operator.config.Storage
	for _, s := range []*platform.Storage{&storage.Default, storage.FullNode, storage.Archive, storage.Replayer, storage.Validator, storage.Seed} {
		if s != nil && s.ClassName != nil && *s.ClassName != "" && !slices.Contains(names, *s.ClassName) {
			names = append(names, *s.ClassName)
		}
	}
	return names, storage.Default.ClassName == nil
}
