package api_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	seiv1alpha1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// extremes are values a schema may let pass although Go cannot hold them.
func extremes(schema *apiextensionsv1.JSONSchemaProps) []any {
	switch {
	case schema.XIntOrString:
		return []any{
			int64(math.MaxInt64), int64(math.MaxInt32) + 1, int64(math.MinInt64), "1e1.5", "1e99", "1E9999999999", "1e-99", "9999999999999999999999Ei",
			".5", "5.", "1e", "0x10",
		}
	case schema.Type == "integer":
		return []any{int64(math.MaxInt32) + 1, int64(math.MinInt32) - 1, int64(math.MaxInt64), int64(math.MinInt64), 1.0e30, 2.5}
	case schema.Type == "string" && schema.Pattern != "":
		return []any{"99999h", "99999.999999999h99999.999999999h", "9999999999999h", "1h1h1h1h1h1h", "1e3", "\x00", "日本", "-1h", "1d", "1 h"}
	default:
		return nil
	}
}

// TestAcceptedObjects_CanBeDecoded makes sure that no object the API server
// stores can blind the operator: an object that Go cannot decode would break
// the watch of its kind for everybody.
func TestAcceptedObjects_CanBeDecoded(t *testing.T) {
	s := newServer(t)
	manifests := fullManifests(t)
	tried, accepted := 0, 0
	for _, crd := range readCRDs(t, s) {
		kind := crd.Spec.Names.Kind
		walk("", schemaOf(crd), func(path string, schema *apiextensionsv1.JSONSchemaProps) {
			obj, at, ok := find(manifests, kind, path)
			if !ok || !strings.HasPrefix(path, "spec.") {
				return
			}
			for _, value := range extremes(schema) {
				tried++
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				stored, err := s.try(ctx, with(t, obj, at, value))
				if ctx.Err() != nil {
					t.Errorf("%s %s: %v keeps the API server busy", kind, at, value)
				}
				cancel()
				if err != nil {
					continue
				}
				accepted++
				if err := decodeTyped(stored); err != nil {
					t.Errorf("%s %s accepts %v, which the operator cannot read: %v", kind, at, value, err)
				}
			}
		})
	}
	t.Logf("%d values tried, %d of them accepted", tried, accepted)
	if accepted == 0 {
		t.Error("nothing was accepted: the test proves nothing")
	}
}

func decodeTyped(obj *unstructured.Unstructured) error {
	text, err := obj.MarshalJSON()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := seiv1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	typed, err := scheme.New(obj.GroupVersionKind())
	if err != nil {
		return err
	}
	return json.Unmarshal(text, typed)
}
