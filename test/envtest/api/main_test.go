package api_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	seiv1alpha1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
)

func TestMain(m *testing.M) {
	crlog.SetLogger(logr.Discard())
	os.Exit(envtest.Main(m))
}

// server is the API server as a user meets it: strict about fields.
type server struct {
	*envtest.Env
	ns  string
	dyn dynamic.Interface
}

func newServer(t *testing.T) *server {
	t.Helper()
	env := envtest.Shared(t)
	dyn, err := dynamic.NewForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	return &server{Env: env, ns: env.Namespace(t), dyn: dyn}
}

func resourceOf(kind string) schema.GroupVersionResource {
	return seiv1alpha1.GroupVersion.WithResource(strings.ToLower(kind) + "s")
}

func (s *server) of(kind string) dynamic.ResourceInterface {
	return s.dyn.Resource(resourceOf(kind)).Namespace(s.ns)
}

// try creates an object without leaving it behind.
func (s *server) try(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return s.of(obj.GetKind()).Create(ctx, obj, metav1.CreateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	})
}

// object makes a manifest from the YAML of its spec.
func object(t *testing.T, kind, name, spec string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": decode(t, spec)}}
	obj.SetAPIVersion(seiv1alpha1.GroupVersion.String())
	obj.SetKind(kind)
	obj.SetName(name)
	return obj
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var value map[string]any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return normal(value).(map[string]any)
}

// normal makes numbers what the API machinery expects them to be.
func normal(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k := range v {
			v[k] = normal(v[k])
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return value
}

// merge lays a merge patch over a value: maps merge, null removes.
func merge(base, patch map[string]any) {
	for k, v := range patch {
		next, isMap := v.(map[string]any)
		old, wasMap := base[k].(map[string]any)
		switch {
		case v == nil:
			delete(base, k)
		case isMap && wasMap:
			merge(old, next)
		default:
			base[k] = v
		}
	}
}
