package chart

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// modes are ways to install: values of the chart, and the folders of config that have the same objects.
var modes = map[string]struct {
	values  values
	folders []string
}{
	"default":    {nil, []string{"default"}},
	"namespaced": {values{"watch": values{"namespaces": []any{"sei-nodes"}}}, []string{"namespaced"}},
	"monitoring": {values{"monitoring": values{"enabled": true}}, []string{"default", "monitoring"}},
	"dashboards": {values{"monitoring": values{"dashboards": true}}, []string{"default", "monitoring/dashboards"}},
	"alert of the mixin": {
		values{"monitoring": values{"statefulSetRollout": true}}, []string{"default", "monitoring/statefulset-rollout"},
	},
	"policies": {
		values{"policies": values{"enabled": true, "imageRepositories": []any{"registry.example.com/sei/"}}},
		[]string{"default", "policies"},
	},
}

// difference between an object of the chart and that of kustomize which is meant to be. remove takes it out of an object
// of either side and reports whether it was there.
type difference struct {
	reason string
	remove func(object *unstructured.Unstructured) bool
}

var (
	configHash = regexp.MustCompile(`^(sei-operator-config)-[a-z0-9]{10}$`)

	differences = []difference{
		{"Helm's tools find objects by these labels", removeLabels(
			"helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "app.kubernetes.io/version")},
		{"an uninstall must not delete CRDs, and all nodes with them", removeKey("helm.sh/resource-policy", "metadata", "annotations")},
		{"the registry is a value, and a release fills it in", func(o *unstructured.Unstructured) bool {
			return o.GetKind() == "Deployment" && removeFrom(container(o), "image")
		}},
		{"kustomize puts a hash into the name of the configuration, where charts have a checksum in the pod", func(o *unstructured.Unstructured) bool {
			if o.GetKind() == "Deployment" {
				return removeKey("checksum/config", "spec", "template", "metadata", "annotations")(o) || renameVolume(o)
			}
			renamed := configHash.ReplaceAllString(o.GetName(), "$1")
			defer o.SetName(renamed)
			return o.GetKind() == "ConfigMap" && renamed != o.GetName()
		}},
		{"the chart names the sidecar's image from the same registry; kustomize has an empty configuration", func(o *unstructured.Unstructured) bool {
			return o.GetKind() == "ConfigMap" && removeKey("config.yaml", "data")(o)
		}},
	}
)

func TestChart_EveryMode_HasTheObjectsOfKustomize(t *testing.T) {
	met := make([]bool, len(differences))
	for mode, tc := range modes {
		want, got := map[string]any{}, map[string]any{}
		for _, object := range kustomize(t, tc.folders...) {
			// Helm makes the release's namespace with --create-namespace, and those of nodes are there already. A namespace in
			// the chart would be deleted with the release.
			if object.GetKind() != "Namespace" {
				removeDifferences(object, met)
				want[name(object)] = object.Object
			}
		}
		for _, object := range render(t, namespace, tc.values) {
			removeDifferences(object, met)
			if got[name(object)] != nil {
				t.Errorf("%s: the chart has %s twice", mode, name(object))
			}
			got[name(object)] = object.Object
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-kustomize +chart):\n%s", mode, diff)
		}
		t.Logf("%s: %d objects are the same", mode, len(got))
	}
	for i, d := range differences {
		if !met[i] {
			t.Errorf("nothing differs any more because %s", d.reason)
		}
	}
}

func removeDifferences(object *unstructured.Unstructured, met []bool) {
	for i, d := range differences {
		met[i] = d.remove(object) || met[i]
	}
}

func removeLabels(names ...string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool {
		found := false
		for _, label := range names {
			found = removeKey(label, "metadata", "labels")(o) || found
		}
		return found
	}
}

func removeKey(key string, path ...string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool {
		parent, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
		fields, _ := parent.(map[string]any)
		return removeFrom(fields, key)
	}
}

func removeFrom(fields map[string]any, key string) bool {
	_, found := fields[key]
	delete(fields, key)
	return found
}

// container is the manager's.
func container(deployment *unstructured.Unstructured) map[string]any {
	return podList(deployment, "containers")[0].(map[string]any)
}

func podList(deployment *unstructured.Unstructured, field string) []any {
	list, _, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "template", "spec", field)
	return list.([]any)
}

// renameVolume takes the hash out of the name of the mounted configuration.
func renameVolume(deployment *unstructured.Unstructured) bool {
	for _, volume := range podList(deployment, "volumes") {
		source, found := volume.(map[string]any)["configMap"].(map[string]any)
		if found && configHash.MatchString(source["name"].(string)) {
			source["name"] = configHash.ReplaceAllString(source["name"].(string), "$1")
			return true
		}
	}
	return false
}

// Names are fixed, the namespace is the release's.
func TestChart_AnotherNamespace_IsNamedEverywhere(t *testing.T) {
	everything := values{
		"monitoring": values{"enabled": true, "dashboards": true, "statefulSetRollout": true},
		"policies":   values{"enabled": true, "imageRepositories": []any{"registry.example.com/sei/"}},
	}
	old := regexp.MustCompile(`system:serviceaccount:sei-operator:|^system$`)
	for _, object := range render(t, "ops", everything) {
		if object.GetKind() == "CustomResourceDefinition" {
			continue // their schemas have fields that are called namespace
		}
		walk(object.Object, "", func(key string, value string) {
			if (key == "namespace" && value != "ops") || old.MatchString(value) {
				t.Errorf("%s has %s: %s", name(object), key, value)
			}
		})
	}
}

// walk calls a function for every text in a document, with its key.
func walk(node any, key string, visit func(key, value string)) {
	switch node := node.(type) {
	case map[string]any:
		for k, v := range node {
			walk(v, k, visit)
		}
	case []any:
		for _, v := range node {
			walk(v, key, visit)
		}
	case string:
		visit(key, node)
	}
}

func TestChart_WatchedNamespaces_BindTheRoleThereAlone(t *testing.T) {
	bound := map[string]bool{}
	for _, object := range render(t, namespace, values{"watch": values{"namespaces": []any{"rpc", "validators"}}}) {
		role, _, _ := unstructured.NestedString(object.Object, "roleRef", "name")
		kind, _, _ := unstructured.NestedString(object.Object, "roleRef", "kind")
		if object.GetKind() == "ClusterRoleBinding" && role != "sei-operator-metrics-auth" {
			t.Errorf("%s binds %s in all namespaces", name(object), role)
		}
		if object.GetKind() == "RoleBinding" && kind == "ClusterRole" {
			bound[object.GetNamespace()+" "+role] = true
		}
		if object.GetKind() == "Deployment" {
			args := container(object)["args"].([]any)
			if diff := cmp.Diff([]any{"--watch-namespace=rpc", "--watch-namespace=validators"}, args[len(args)-2:]); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
		}
	}
	if diff := cmp.Diff(map[string]bool{"rpc sei-operator": true, "validators sei-operator": true}, bound); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
}
