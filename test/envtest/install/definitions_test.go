package install_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldsDiffer are the lines of the operator's metrics about its CRDs, once there are any.
func fieldsDiffer(t *testing.T, op *operator, bearer string) string {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); ; <-tick.C {
		var lines []string
		_, body := get(t, "https://"+op.metrics+"/metrics", bearer)
		for line := range strings.Lines(body) {
			if strings.HasPrefix(line, "sei_operator_crd_fields{") {
				lines = append(lines, line)
			}
		}
		if len(lines) > 0 || time.Now().After(deadline) {
			return strings.Join(lines, "")
		}
	}
}

// With the rights of the manifests the operator sees that the CRDs are those it was built with, and how
// many fields one lacks that is not.
func TestManager_ComparesTheCRDs(t *testing.T) {
	env := install(t)
	ns := env.Namespace(t)
	newAccount(t, env, ns, "crd-reader", "sei-operator-metrics-reader")
	bearer := token(t, env, ns, "crd-reader")

	op := startOperator(t, env)
	got := fieldsDiffer(t, op, bearer)
	if strings.Count(got, "\n") != 6 || strings.Count(got, "} 0\n") != 6 {
		t.Errorf("with the CRDs of this version:\n%s", got)
	}
	if forbidden := op.recorder.All().Answered(http.StatusForbidden); len(forbidden) > 0 {
		t.Errorf("forbidden: %v, want none", forbidden)
	}
	if err := op.stop(); err != nil {
		t.Fatal(err)
	}

	withoutField(t, env.Client, func() string {
		op := startOperator(t, env)
		defer func() { _ = op.stop() }()
		return fieldsDiffer(t, op, bearer)
	})
}

// withoutField takes a field out of a CRD until the operator reports it, and puts it back. What the API
// server publishes follows its CRDs a moment later, so operators are started until one has seen it.
func withoutField(t *testing.T, c client.Client, differ func() string) {
	t.Helper()
	key := types.NamespacedName{Name: "seinodetasks.sei.io"}
	change := func(edit func(map[string]apiextensionsv1.JSONSchemaProps)) {
		t.Helper()
		var crd apiextensionsv1.CustomResourceDefinition
		if err := c.Get(t.Context(), key, &crd); err != nil {
			t.Fatal(err)
		}
		edit(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties)
		if err := c.Update(t.Context(), &crd); err != nil {
			t.Fatal(err)
		}
	}
	var taken apiextensionsv1.JSONSchemaProps
	change(func(fields map[string]apiextensionsv1.JSONSchemaProps) {
		taken = fields["ttlSecondsAfterFinished"]
		delete(fields, "ttlSecondsAfterFinished")
	})
	defer change(func(fields map[string]apiextensionsv1.JSONSchemaProps) { fields["ttlSecondsAfterFinished"] = taken })
	want, got := `sei_operator_crd_fields{kind="SeiNodeTask",state="missing"} 1`, ""
	for range 5 {
		if got = differ(); strings.Contains(got, want) {
			return
		}
	}
	t.Errorf("without spec.ttlSecondsAfterFinished of a SeiNodeTask:\n%s", got)
}
