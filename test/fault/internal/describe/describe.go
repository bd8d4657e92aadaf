// Package describe reports objects without what differs from one run of a test to the next, so that
// two runs can be compared. What is not described is listed in this package, with reasons.
package describe

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Kinds are what the operator, and the controllers it relies on, make.
var Kinds = []schema.GroupVersionKind{
	v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNode),
	v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNodeDeployment),
	v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNodeTask),
	{Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Version: "v1", Kind: "Pod"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Service"},
}

// Names gives identities and hashes names by the order in which they are seen, so that two
// pictures are the same if the same things are equal to each other in both.
type Names struct {
	namespace string
	// annotations are those of the test itself.
	annotations []string
	known       map[string]string
}

// NewNames knows nothing yet. The annotations are not described.
func NewNames(namespace string, annotations ...string) *Names {
	return &Names{namespace: namespace, annotations: annotations, known: map[string]string{}}
}

var (
	identity = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{10,64}\b|\b[0-9A-F]{40}\b`)
	moment   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	address  = regexp.MustCompile(`\b(127|198)\.\d+\.\d+\.\d+\b`)
	volume   = regexp.MustCompile(`kube-api-access-[a-z0-9]{5}`)
)

// WithoutNamespace is a text that is the same in every namespace.
func (n *Names) WithoutNamespace(text string) string {
	return strings.ReplaceAll(text, n.namespace, "NAMESPACE")
}

// Rename replaces what differs from one run to the next.
func (n *Names) Rename(text string) string {
	text = n.WithoutNamespace(text)
	text = moment.ReplaceAllString(text, "TIME")
	text = address.ReplaceAllString(text, "ADDRESS")
	text = volume.ReplaceAllString(text, "TOKEN")
	return identity.ReplaceAllStringFunc(text, func(found string) string {
		found = strings.ToLower(found) // addresses are written both ways
		if n.known[found] == "" {
			n.known[found] = fmt.Sprintf("ID%d", len(n.known)+1)
		}
		return n.known[found]
	})
}

// Name is an object's name without what was generated: there is one such object at a time.
func (n *Names) Name(obj metav1.Object) string {
	if prefix := obj.GetGenerateName(); prefix != "" && metav1.GetControllerOf(obj) != nil && !isOrdinal(obj) {
		return n.Rename(prefix) + "*"
	}
	return n.Rename(obj.GetName())
}

// isOrdinal reports whether a pod is a StatefulSet's, which has a name of its own.
func isOrdinal(obj metav1.Object) bool {
	return obj.GetLabels()["statefulset.kubernetes.io/pod-name"] != ""
}

// Describe gives an object's fields, one per line, in a fixed order.
func (n *Names) Describe(obj *unstructured.Unstructured) []string {
	n.reduce(obj)
	var lines []string
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(path+"."+key, v[key])
			}
		case []any:
			for i, item := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), item)
			}
		case string:
			lines = append(lines, path+": "+n.Rename(v))
		default:
			text, err := json.Marshal(v)
			if err != nil {
				text = []byte(err.Error())
			}
			lines = append(lines, path+": "+string(text))
		}
	}
	walk("", obj.Object)
	return lines
}
