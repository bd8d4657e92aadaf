package cli

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/internal/cli/redact"
)

// What a report holds whole, of the namespace and of the operator's.
var reportedKinds = []schema.GroupVersionKind{
	{Group: "sei.io", Version: "v1alpha1", Kind: "SeiNode"},
	{Group: "sei.io", Version: "v1alpha1", Kind: "SeiNodeDeployment"},
	{Group: "sei.io", Version: "v1alpha1", Kind: "SeiNodeTask"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Version: "v1", Kind: "Pod"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"},
	{Group: "events.k8s.io", Version: "v1", Kind: "Event"},
}

// What a report holds of the cluster.
var reportedClusterKinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Node"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"},
}

// What a report lists without content: the API server is asked for metadata alone.
var listedKinds = []schema.GroupVersionKind{{Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ConfigMap"}}

// collector gathers the files of a report.
type collector struct {
	checkup
	flags *reportFlags
	files map[string]string
	// problems are what could not be collected, for example because the user may not see it.
	problems []string
}

func (c *collector) collect(ctx context.Context) {
	c.collectVersions(ctx)
	namespaces := []string{c.Namespace}
	if c.operator != nil && c.operator.deployment.Namespace != c.Namespace {
		namespaces = append(namespaces, c.operator.deployment.Namespace)
	}
	for _, namespace := range namespaces {
		for _, kind := range reportedKinds {
			c.collectObjects(ctx, namespace, kind)
		}
		for _, kind := range listedKinds {
			c.collectMetadata(ctx, namespace, kind)
		}
		c.collectLogs(ctx, namespace)
	}
	for _, kind := range reportedClusterKinds {
		c.collectObjects(ctx, "", kind)
	}
	if len(c.problems) > 0 {
		c.files["problems.txt"] = strings.Join(c.problems, "\n") + "\n"
	}
}

func (c *collector) problem(what string, err error) {
	c.problems = append(c.problems, fmt.Sprintf("%s: %v", what, err))
}

// collectVersions notes who made the report of what, and what check says.
func (c *collector) collectVersions(ctx context.Context) {
	versions := map[string]any{"plugin": c.version, "namespace": c.Namespace, "time": c.factory.Clock.Now().UTC()}
	if info, err := c.Kubernetes.Discovery().ServerVersion(); err == nil {
		versions["kubernetes"] = info.GitVersion
	} else {
		c.problem("version of Kubernetes", err)
	}
	if c.operator != nil {
		versions["operator"] = c.operator.image()
		var stored corev1.ConfigMap
		key := client.ObjectKey{Namespace: c.operator.deployment.Namespace, Name: operatorConfigName}
		if err := c.Client.Get(ctx, key, &stored); err == nil {
			c.files["platform-config.yaml"] = stored.Data[operatorConfigKey]
		} else {
			c.problem("platform configuration", err)
		}
	}
	c.addYAML("versions.yaml", versions)
	c.addYAML("check.yaml", c.run(ctx))
}

func (c *collector) collectObjects(ctx context.Context, namespace string, kind schema.GroupVersionKind) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := c.Client.List(ctx, list, client.InNamespace(namespace))
	if meta.IsNoMatchError(err) {
		return // an API that the cluster does not have
	}
	if err != nil {
		c.problem(strings.Trim(namespace+" "+kind.Kind, " "), err)
		return
	}
	for i := range list.Items {
		redact.Object(list.Items[i].Object)
		c.addYAML(objectPath(namespace, kind.Kind, list.Items[i].GetName()), list.Items[i].Object)
	}
}

func (c *collector) collectMetadata(ctx context.Context, namespace string, kind schema.GroupVersionKind) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := c.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		c.problem(namespace+" "+kind.Kind, err)
		return
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	c.addYAML("objects/"+namespace+"/"+strings.ToLower(kind.Kind)+"s.yaml", names)
}

func objectPath(namespace, kind, name string) string {
	if namespace == "" {
		namespace = "cluster"
	}
	return "objects/" + namespace + "/" + strings.ToLower(kind) + "/" + name + ".yaml"
}

// collectLogs reads every container of the pods that the operator has made, and of the operator,
// also as it was before its last restart.
func (c *collector) collectLogs(ctx context.Context, namespace string) {
	var pods corev1.PodList
	if err := c.Client.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return // noted when the objects were collected
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !isReported(pod) {
			continue
		}
		for _, container := range containersOf(pod) {
			c.collectLog(ctx, client.ObjectKeyFromObject(pod), container, false)
			if restarted(pod, container) {
				c.collectLog(ctx, client.ObjectKeyFromObject(pod), container, true)
			}
		}
	}
}

func (c *collector) collectLog(ctx context.Context, pod types.NamespacedName, container string, previous bool) {
	reader := &logReader{cluster: c.Cluster, clock: c.factory.Clock, flags: &logFlags{since: c.flags.since, tail: c.flags.tail, previous: previous}}
	source := logSource{name: container, container: container, pod: pod}
	var text strings.Builder
	_, err := reader.read(ctx, source, reader.options(source), func(l logLine) {
		text.WriteString(l.Time.UTC().Format("2006-01-02T15:04:05.000000Z ") + l.Text + "\n")
	})
	path := "logs/" + pod.Namespace + "/" + pod.Name + "/" + container + ".log"
	if previous {
		path = strings.TrimSuffix(path, ".log") + ".previous.log"
	}
	if err != nil {
		c.problem(path, err)
	}
	if text.Len() > 0 {
		c.files[path] = text.String()
	}
}

func (c *collector) addYAML(path string, content any) {
	text, err := yaml.Marshal(content)
	if err != nil {
		c.problem(path, err)
		return
	}
	c.files[path] = string(text)
}
