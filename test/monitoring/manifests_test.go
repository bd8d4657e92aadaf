package monitoring_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// object reads the object of a kind from a file. Fields that the kind does not have are
// errors.
func object[T any](t *testing.T, path, kind string) (o T) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		if !regexp.MustCompile(`(?m)^kind: ` + kind + `$`).MatchString(document) {
			continue
		}
		if err := yaml.UnmarshalStrict([]byte(document), &o); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return o
	}
	t.Fatalf("%s holds no %s", path, kind)
	return o
}

func TestServiceMonitor_FindsTheOperatorUnderTheJobOfTheRules(t *testing.T) {
	monitor := object[monitoringv1.ServiceMonitor](t, "config/monitoring/service-monitor.yaml", "ServiceMonitor")
	service := object[corev1.Service](t, "config/manager/service.yaml", "Service")
	if !covers(service.Labels, monitor.Spec.Selector.MatchLabels) {
		t.Errorf("the Service has the labels %v, and %v are asked for", service.Labels, monitor.Spec.Selector.MatchLabels)
	}
	job := service.Labels[monitor.Spec.JobLabel]
	for _, match := range regexp.MustCompile(`job="([^"]+)"`).FindAllStringSubmatch(expressions(t), -1) {
		if match[1] != job && match[1] != "kube-state-metrics" {
			t.Errorf("a rule selects the job %s, and the operator's is %s", match[1], job)
		}
	}
	if len(monitor.Spec.Endpoints) != 1 {
		t.Fatalf("there are %d endpoints, want 1", len(monitor.Spec.Endpoints))
	}
	endpoint := monitor.Spec.Endpoints[0]
	if !slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == endpoint.Port }) {
		t.Errorf("the Service has no port %s", endpoint.Port)
	}
	if err := endpoint.Validate(); err != nil {
		t.Error(err)
	}
	if endpoint.Scheme.String() != "https" || endpoint.Authorization.Type != "Bearer" {
		t.Error("metrics are served over TLS, to those who show a token")
	}
	if !endpoint.HonorLabels {
		t.Error("without honorLabels the namespace of an object becomes exported_namespace")
	}
}

// Every label that the rules go by comes from the pods, and both ports are ports of a node's pod.
func TestPodMonitor_ScrapesSidecarAndSeidUnderTheLabelsOfTheRules(t *testing.T) {
	monitor := object[monitoringv1.PodMonitor](t, "config/monitoring/pod-monitor.yaml", "PodMonitor")
	if s := monitor.Spec.Selector; len(s.MatchExpressions) != 1 || s.MatchExpressions[0].Key != v1alpha1.LabelNode || !monitor.Spec.NamespaceSelector.Any {
		t.Errorf("it selects %v in %v, want the pods of all nodes", s, monitor.Spec.NamespaceSelector)
	}
	want := map[string]string{
		"name": v1alpha1.LabelNode, "chain": v1alpha1.LabelChain, "role": v1alpha1.LabelRole, "fleet": v1alpha1.LabelDeployment,
	}
	ports := make([]string, 0, len(monitor.Spec.PodMetricsEndpoints))
	for _, endpoint := range monitor.Spec.PodMetricsEndpoints {
		ports = append(ports, *endpoint.Port+endpoint.Path)
		got := []string{"namespace"} // which the Prometheus Operator adds
		for _, r := range endpoint.RelabelConfigs {
			label := want[r.TargetLabel]
			if label == "" { // the job
				continue
			}
			got = append(got, r.TargetLabel)
			source := "__meta_kubernetes_pod_label_" + regexp.MustCompile(`[^a-z0-9]`).ReplaceAllString(label, "_")
			if len(r.SourceLabels) != 1 || string(r.SourceLabels[0]) != source {
				t.Errorf("%s: %s is made of %v, want %s", *endpoint.Port, r.TargetLabel, r.SourceLabels, source)
			}
		}
		if !slices.Equal(got, ofTarget) {
			t.Errorf("%s: the labels are %v, want %v", *endpoint.Port, got, ofTarget)
		}
	}
	if want := []string{"sidecar" + api.PathMetrics, seid.PortNameMetrics + "/metrics"}; !slices.Equal(ports, want) {
		t.Errorf("it scrapes %v, want %v", ports, want)
	}
}

func expressions(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, r := range shipped(t).all() {
		all.WriteString(r.Expr)
	}
	return all.String()
}

func TestScraper_ItsTokenMayReadMetrics(t *testing.T) {
	const path = "config/monitoring/scraper.yaml"
	credentials := object[monitoringv1.ServiceMonitor](t, "config/monitoring/service-monitor.yaml", "ServiceMonitor").Spec.Endpoints[0].Authorization.Credentials
	secret, account := object[corev1.Secret](t, path, "Secret"), object[corev1.ServiceAccount](t, path, "ServiceAccount")
	if credentials.Name != secret.Name || credentials.Key != corev1.ServiceAccountTokenKey || secret.Type != corev1.SecretTypeServiceAccountToken ||
		secret.Annotations[corev1.ServiceAccountNameKey] != account.Name {
		t.Errorf("the ServiceMonitor shows %v of Secret %s, whose account is %v", credentials, secret.Name, secret.Annotations)
	}
	binding := object[rbacv1.ClusterRoleBinding](t, path, "ClusterRoleBinding")
	if len(binding.Subjects) != 1 || binding.Subjects[0].Name != account.Name || binding.Subjects[0].Namespace != account.Namespace {
		t.Errorf("the role is bound to %v, want account %s", binding.Subjects, account.Name)
	}
	roles, err := os.ReadFile(filepath.Join(root, "config/rbac/metrics.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(roles), "name: "+binding.RoleRef.Name+"\n") {
		t.Errorf("config/rbac/metrics.yaml has no role %s", binding.RoleRef.Name)
	}
}

type kustomization struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Namespace  string           `json:"namespace"`
	Labels     []map[string]any `json:"labels"`
	Resources  []string         `json:"resources"`
}

func TestKustomizations_ListTheirFiles(t *testing.T) {
	for _, folder := range []string{"config/monitoring", "config/monitoring/statefulset-rollout"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{}
		for _, file := range files {
			want[filepath.Base(file)] = true
		}
		delete(want, "kustomization.yaml")
		listed := object[kustomization](t, filepath.Join(folder, "kustomization.yaml"), "Kustomization").Resources
		listed = slices.DeleteFunc(listed, func(r string) bool { return !strings.HasSuffix(r, ".yaml") })
		slices.Sort(listed)
		if got := slices.Sorted(maps.Keys(want)); !slices.Equal(got, listed) {
			t.Errorf("%s holds %v and lists %v", folder, got, listed)
		}
	}
}
