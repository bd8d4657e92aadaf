package fault

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What is not compared. Everything else of an object is.
var (
	// Written by the API server at every change, or made up by it. How a status's generations relate to
	// the object's is compared.
	droppedMetadata = []string{"resourceVersion", "generation", "creationTimestamp", "managedFields", "generateName"}
	// Written by these tests.
	droppedAnnotations = []string{annotationForced, annotationTouched}
	// The revision is a hash of the template, which names the namespace; the zone is that of the machine.
	droppedLabels = []string{"controller-revision-hash", "topology.kubernetes.io/zone"}
	// Given out by the API server, the scheduler and the provisioner.
	droppedSpec = []string{"clusterIP", "clusterIPs", "nodeName", "volumeName", "healthCheckNodePort"}
)

// reduce leaves of an object what the operator answers for.
func reduce(obj *unstructured.Unstructured) {
	generation := obj.GetGeneration()
	for _, field := range droppedMetadata {
		unstructured.RemoveNestedField(obj.Object, "metadata", field)
	}
	for _, key := range droppedAnnotations {
		unstructured.RemoveNestedField(obj.Object, "metadata", "annotations", key)
	}
	// Who provisions and binds volumes takes notes there, in whatever order it comes to it.
	for key := range obj.GetAnnotations() {
		if domain, _, _ := strings.Cut(key, "/"); domain == "pv.kubernetes.io" || strings.HasPrefix(domain, "volume.") {
			unstructured.RemoveNestedField(obj.Object, "metadata", "annotations", key)
		}
	}
	for _, key := range droppedLabels {
		unstructured.RemoveNestedField(obj.Object, "metadata", "labels", key)
	}
	for _, field := range droppedSpec {
		unstructured.RemoveNestedField(obj.Object, "spec", field)
	}
	// The status of other kinds is their controllers' business, apart from whether they came to rest.
	if !strings.HasPrefix(obj.GetAPIVersion(), "sei.io/") {
		phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
		obj.Object["status"] = map[string]any{"phase": phase}
		return
	}
	relateGenerations(obj.Object["status"], generation)
}

// relateGenerations writes how far every generation in a status is behind.
func relateGenerations(value any, current int64) {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			if seen, ok := field.(int64); ok && (key == "observedGeneration" || key == "generation") {
				v[key] = fmt.Sprintf("%d behind", current-seen)
			}
			relateGenerations(field, current)
		}
	case []any:
		for _, item := range v {
			relateGenerations(item, current)
		}
	}
}

// excuse takes out what may differ from the undisturbed end although it is compared.
//
// Fewer tasks: a plan that was made anew after a crash asks only for what is missing, where the first
// one did everything in turn. That it was done shows in the rest of the picture.
func (p *picture) excuse(undisturbed *picture) {
	for name, times := range undisturbed.Tasks {
		p.Tasks[name] = max(p.Tasks[name], times)
	}
}

// renamed gives identities and hashes names by the order in which they are seen, so that two
// pictures are the same if the same things are equal to each other in both.
type renamed struct {
	namespace string
	known     map[string]string
}

func newRenamed(namespace string) *renamed {
	return &renamed{namespace: namespace, known: map[string]string{}}
}

var (
	identity = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{10,64}\b|\b[0-9A-F]{40}\b`)
	moment   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	address  = regexp.MustCompile(`\b(127|198)\.\d+\.\d+\.\d+\b`)
	volume   = regexp.MustCompile(`kube-api-access-[a-z0-9]{5}`)
)

func (n *renamed) rename(text string) string {
	text = strings.ReplaceAll(text, n.namespace, "NAMESPACE")
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

// name is an object's name without what was generated: there is one such object at a time.
func (n *renamed) name(obj metav1.Object) string {
	if prefix := obj.GetGenerateName(); prefix != "" && metav1.GetControllerOf(obj) != nil && !isOrdinal(obj) {
		return n.rename(prefix) + "*"
	}
	return n.rename(obj.GetName())
}

// isOrdinal reports whether a pod is a StatefulSet's, which has a name of its own.
func isOrdinal(obj metav1.Object) bool {
	return obj.GetLabels()["statefulset.kubernetes.io/pod-name"] != ""
}

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
