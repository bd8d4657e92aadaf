package describe

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// What is not compared. Everything else of an object is.
var (
	// Written by the API server at every change, or made up by it. How a status's generations relate to
	// the object's is compared.
	droppedMetadata = []string{"resourceVersion", "generation", "creationTimestamp", "managedFields", "generateName"}
	// The revision is a hash of the template, which names the namespace; the zone is that of the machine.
	droppedLabels = []string{"controller-revision-hash", "topology.kubernetes.io/zone"}
	// Given out by the API server, the scheduler and the provisioner.
	droppedSpec = []string{"clusterIP", "clusterIPs", "nodeName", "volumeName", "healthCheckNodePort"}
)

// reduce leaves of an object what the operator answers for.
func (n *Names) reduce(obj *unstructured.Unstructured) {
	generation := obj.GetGeneration()
	for _, field := range droppedMetadata {
		unstructured.RemoveNestedField(obj.Object, "metadata", field)
	}
	for _, key := range n.annotations {
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
	// The keys of certificates are random. That they are the right ones shows in that sidecars are called.
	if kind, _, _ := unstructured.NestedString(obj.Object, "type"); kind == string(corev1.SecretTypeTLS) {
		data, _, _ := unstructured.NestedMap(obj.Object, "data")
		for key := range data {
			data[key] = "random"
		}
		obj.Object["data"] = data
	}
	// The status of other kinds is their controllers' business, apart from whether they came to rest.
	if !strings.HasPrefix(obj.GetAPIVersion(), "sei.io/") {
		phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
		obj.Object["status"] = map[string]any{"phase": phase}
		return
	}
	relateGenerations(obj.Object["status"], generation)
	dropSubmissions(obj.Object)
}

// dropSubmissions takes out when the completed steps of a plan were handed to the sidecar. A crash can
// lose that: the next process finds the step done and hands over nothing.
func dropSubmissions(obj map[string]any) {
	field, _, _ := unstructured.NestedFieldNoCopy(obj, "status", "plan", "tasks")
	steps, _ := field.([]any)
	for _, step := range steps {
		if fields, ok := step.(map[string]any); ok && fields["status"] == string(v1alpha1.TaskComplete) {
			delete(fields, "submittedAt")
		}
	}
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
