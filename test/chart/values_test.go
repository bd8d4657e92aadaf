package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestLint_FindsNothing(t *testing.T) {
	for _, message := range lint.RunAll(chartDir, withRegistry(nil), namespace).Messages {
		if message.Severity > support.InfoSev {
			t.Error(message)
		}
	}
}

// set makes the values that helm --set PATH=VALUE would.
func set(path string, value any) values {
	v := values{}
	if err := unstructured.SetNestedField(v, value, strings.Split(path, ".")...); err != nil {
		panic(err) //nolint:forbidigo // a mistake in a table of this file
	}
	return v
}

func TestValues_WrongOnes_AreNamed(t *testing.T) {
	for path, tc := range map[string]struct {
		value any
		want  string
	}{
		"imgae":                    {values{}, "'imgae'"},
		"image.regsitry":           {"registry.example.com", "'regsitry'"},
		"image.registry":           {"sei-operator", "/image/registry"},
		"image.repository":         {"Manager", "/image/repository"},
		"image.tag":                {"v1:v2", "/image/tag"},
		"image.digest":             {"sha256:abc", "/image/digest"},
		"image.pullPolicy":         {"Sometimes", "/image/pullPolicy"},
		"sidecarImage.registry":    {"http://registry.example.com", "/sidecarImage/registry"},
		"replicas":                 {"two", "/replicas"},
		"watch.namespaces":         {[]any{"Not_One"}, "/watch/namespaces/0"},
		"crds.install":             {"yes", "/crds/install"},
		"monitoring.enabled":       {"true", "/monitoring/enabled"},
		"monitoring.dashbords":     {true, "'dashbords'"},
		"extraArgs":                {[]any{"log-level=debug"}, "/extraArgs/0"},
		"extraVolumeMounts":        {[]any{values{"name": "certificates"}}, "'mountPath'"},
		"resources.request":        {values{}, "'request'"},
		"policies.enabled":         {true, "policies.imageRepositories is empty"},
		"imagePullSecrets":         {[]any{"credentials"}, "/imagePullSecrets/0"},
		"serviceAccount.name":      {"mine", "'name'"},
		"podDisruptionBudget.on":   {true, "'on'"},
		"policies.repositories":    {[]any{}, "'repositories'"},
		"affinity.nodeAfinity":     {values{}, "'nodeAfinity'"},
		"nodeSelector.pool":        {int64(1), "/nodeSelector/pool"},
		"podLabels.team":           {true, "/podLabels/team"},
		"serviceAccount.anotation": {values{}, "'anotation'"},
	} {
		_, err := template(t, namespace, withRegistry(set(path, tc.value)))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s=%v: %v, want an error with %s", path, tc.value, err, tc.want)
		}
	}
}

func TestValues_NoRegistry_SaysWhatToSet(t *testing.T) {
	_, err := template(t, namespace, nil)
	if err == nil || !strings.Contains(err.Error(), "image.registry is empty: name the registry") {
		t.Errorf("err = %v", err)
	}
}

func TestValues_TheOperatorsNamespace_IsNotWatched(t *testing.T) {
	_, err := template(t, "ops", withRegistry(set("watch.namespaces", []any{"ops"})))
	if err == nil || !strings.Contains(err.Error(), "watch.namespaces: ops is the operator's own namespace") {
		t.Errorf("err = %v", err)
	}
}

// changes are a value for each that there is, other than its default, and a piece of the objects that it makes.
var changes = map[string]struct {
	value any
	want  string
}{
	"image.registry":                {"localhost:5000", `"image":"localhost:5000/manager:dev"`},
	"image.repository":              {"team/operator", `"image":"registry.example.com/sei-operator/team/operator:dev"`},
	"image.tag":                     {"v1.2.3", `"image":"registry.example.com/sei-operator/manager:v1.2.3"`},
	"image.digest":                  {"sha256:" + strings.Repeat("0", 64), `"image":"registry.example.com/sei-operator/manager@sha256:0000`},
	"image.pullPolicy":              {"Always", `"imagePullPolicy":"Always"`},
	"sidecarImage.registry":         {"localhost:5000", `sidecar: localhost:5000/sidecar:dev`},
	"sidecarImage.repository":       {"team/sidecar", `sidecar: registry.example.com/sei-operator/team/sidecar:dev`},
	"sidecarImage.tag":              {"v1.2.3", `sidecar: registry.example.com/sei-operator/sidecar:v1.2.3`},
	"sidecarImage.digest":           {"sha256:" + strings.Repeat("0", 64), `sidecar: registry.example.com/sei-operator/sidecar@sha256:0000`},
	"imagePullSecrets":              {[]any{values{"name": "credentials"}}, `"imagePullSecrets":[{"name":"credentials"}]`},
	"config":                        {values{"images": values{"sidecar": "localhost/mine:v1"}}, `sidecar: localhost/mine:v1`},
	"watch.namespaces":              {[]any{"rpc"}, `"--watch-namespace=rpc"`},
	"crds.install":                  {true, `"kind":"CustomResourceDefinition"`},
	"replicas":                      {int64(3), `"replicas":3`},
	"podDisruptionBudget.enabled":   {false, ``},
	"priorityClassName":             {"system-cluster-critical", `"priorityClassName":"system-cluster-critical"`},
	"resources":                     {values{"limits": values{"memory": "2Gi"}}, `"resources":{"limits":{"memory":"2Gi"}}`},
	"nodeSelector":                  {values{"pool": "system"}, `"nodeSelector":{"pool":"system"}`},
	"tolerations":                   {[]any{values{"operator": "Exists"}}, `"tolerations":[{"operator":"Exists"}]`},
	"affinity":                      {values{"nodeAffinity": values{}}, `"affinity":{"nodeAffinity":{}}`},
	"topologySpreadConstraints":     {[]any{values{"maxSkew": int64(2)}}, `"topologySpreadConstraints":[{"maxSkew":2}]`},
	"podAnnotations":                {values{"team": "chain"}, `"team":"chain"`},
	"podLabels":                     {values{"team": "chain"}, `"team":"chain"`},
	"serviceAccount.annotations":    {values{"role": "peers"}, `"annotations":{"role":"peers"}`},
	"extraArgs":                     {[]any{"--log-level=debug"}, `"--log-level=debug"]`},
	"extraEnv":                      {[]any{values{"name": "GOGC", "value": "40"}}, `{"name":"GOGC","value":"40"}]`},
	"extraVolumes":                  {[]any{values{"name": "certificates"}}, `{"name":"certificates"}]`},
	"extraVolumeMounts":             {[]any{values{"name": "certificates", "mountPath": "/c"}}, `{"mountPath":"/c","name":"certificates"}]`},
	"networkPolicy.enabled":         {false, ``},
	"monitoring.enabled":            {true, `"kind":"ServiceMonitor"`},
	"monitoring.labels":             {values{"release": "prometheus"}, `"release":"prometheus"`},
	"monitoring.statefulSetRollout": {true, `KubeStatefulSetUpdateNotRolledOut`},
	"monitoring.dashboards":         {true, `"name":"sei-operator-dashboard-node"`},
	"policies.enabled":              {true, `"kind":"ValidatingAdmissionPolicy"`},
	"policies.imageRepositories":    {[]any{"localhost/a/", "localhost/b"}, `"repositories":"localhost/a/\nlocalhost/b\n"`},
}

// needs are values without which another one has no effect.
var needs = map[string]values{
	"monitoring.labels":          set("monitoring.enabled", true),
	"policies.enabled":           set("policies.imageRepositories", []any{"localhost/"}),
	"policies.imageRepositories": set("policies.enabled", true),
}

func TestValues_EachHasAnEffect(t *testing.T) {
	// CRDs are most of the work, and no other value changes them.
	few := set("crds.install", false)
	without := text(t, render(t, namespace, few))
	for _, path := range leaves(readValues(t), "") {
		change, found := changes[path]
		if !found {
			t.Errorf("no case tries value %s", path)
			continue
		}
		v := loader.MergeMaps(loader.MergeMaps(few, needs[path]), set(path, change.value))
		with := text(t, render(t, namespace, v))
		if without == with || !strings.Contains(with, change.want) || (change.want != "" && strings.Contains(without, change.want)) {
			t.Errorf("%s=%v does not make %q", path, change.value, change.want)
		}
	}
}

func text(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	var b strings.Builder
	for _, object := range objects {
		if config, found, _ := unstructured.NestedString(object.Object, "data", "config.yaml"); found {
			b.WriteString(config)
		}
		content, err := json.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(content)
	}
	return b.String()
}

func readValues(t *testing.T) *yaml.Node {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(chartDir, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	return document.Content[0]
}

// leaves are the paths of values that hold no others by default.
func leaves(node *yaml.Node, path string) []string {
	if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		return []string{path}
	}
	var found []string
	for i := 0; i < len(node.Content); i += 2 {
		found = append(found, leaves(node.Content[i+1], strings.TrimPrefix(path+"."+node.Content[i].Value, "."))...)
	}
	return found
}

func TestValues_EachIsExplainedAndInTheSchema(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(chartDir, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(content, &schema); err != nil {
		t.Fatal(err)
	}
	document := readValues(t)
	checkComments(t, document, "")
	have := schemaLeaves(schema, "")
	// Set by charts that have this one as a dependency.
	have = slices.DeleteFunc(have, func(path string) bool { return path == "global" })
	want := leaves(document, "")
	// Fields of Kubernetes, which the schema knows in part.
	for _, open := range []string{"resources", "affinity"} {
		have = slices.DeleteFunc(have, func(path string) bool { return strings.HasPrefix(path, open+".") })
		want = slices.DeleteFunc(want, func(path string) bool { return path == open })
	}
	slices.Sort(have)
	slices.Sort(want)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("values.yaml and values.schema.json (-values +schema):\n%s", diff)
	}
}

func checkComments(t *testing.T, node *yaml.Node, path string) {
	t.Helper()
	if node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(node.Content); i += 2 {
		key := strings.TrimPrefix(path+"."+node.Content[i].Value, ".")
		if node.Content[i].HeadComment == "" {
			t.Errorf("values.yaml does not explain %s", key)
		}
		checkComments(t, node.Content[i+1], key)
	}
}

func schemaLeaves(schema map[string]any, path string) []string {
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return []string{path}
	}
	var found []string
	for key, property := range properties {
		found = append(found, schemaLeaves(property.(map[string]any), strings.TrimPrefix(path+"."+key, "."))...)
	}
	return found
}
