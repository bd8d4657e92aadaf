package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

// publicObjects reads testdata/migrate/FILE: objects as the public operator leaves them.
func publicObjects(t *testing.T, file string) []client.Object {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "migrate", file))
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Split(string(content), "\n---\n")
	objects := make([]client.Object, 0, len(texts))
	for _, text := range texts {
		encoded, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(encoded); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

// newMigrationPlugin makes a plugin for a cluster that lacks kinds which nothing is stored of.
func newMigrationPlugin(t *testing.T, objects ...client.Object) *plugin {
	t.Helper()
	known, others := []client.Object{}, map[string][]unstructured.Unstructured{}
	for _, o := range objects {
		if raw, ok := o.(*unstructured.Unstructured); ok && raw.GroupVersionKind().Group == "sei.io" {
			others[raw.GetKind()+"List"] = append(others[raw.GetKind()+"List"], *raw)
			continue
		}
		known = append(known, o)
	}
	p := newPlugin(t, known...)
	// The fake client would drop fields that the types do not have; an API server with the CRDs of
	// the public operator does not.
	p.cluster.Client = interceptor.NewClient(p.cluster.Client, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			raw, ok := list.(*unstructured.UnstructuredList)
			if !ok {
				return c.List(ctx, list, opts...)
			}
			if kind := raw.GroupVersionKind(); len(others[kind.Kind]) == 0 && kind.Kind == "SeiNodeTaskWorkflowList" {
				return &meta.NoKindMatchError{GroupKind: kind.GroupKind()}
			}
			raw.Items = others[raw.GroupVersionKind().Kind]
			return nil
		},
	})
	return p
}

func TestMigrate_ObjectsOfThePublicOperator_EachIsToldWhatHappens(t *testing.T) {
	renewed := metav1.NewMicroTime(now.Add(-2 * time.Second))
	holder := "controller-manager-0_1234"
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "bc1f5b0a.sei.io", Namespace: "sei-system"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed},
	}
	p := newMigrationPlugin(t, append(publicObjects(t, "public.yaml"), lease)...)
	got, err := p.run(t, "migrate", "--dry-run")
	golden(t, "migrate/public.txt", got)
	if exit, ok := errors.AsType[*ExitError](err); !ok || exit.Code != 1 {
		t.Errorf("got %v, want an exit with code 1", err)
	}
	document, _ := p.run(t, "migrate", "--dry-run", "-A", "-o", "json")
	golden(t, "migrate/public.json", document)
}

func TestMigrate_ANodeThatNeedsNothing_ExitsWithZero(t *testing.T) {
	got := newMigrationPlugin(t, publicObjects(t, "ready.yaml")...).mustRun(t, "migrate", "--dry-run")
	golden(t, "migrate/ready.txt", got)
}

func TestMigrate_WithoutDryRun_DoesNothing(t *testing.T) {
	if _, err := withoutCluster(t).run(t, "migrate"); err == nil || !strings.Contains(err.Error(), "--dry-run") {
		t.Errorf("got %v, want an error with %q", err, "--dry-run")
	}
}

func TestMigrate_NothingThere_SaysSo(t *testing.T) {
	if got := newMigrationPlugin(t).mustRun(t, "migrate", "--dry-run"); !strings.Contains(got, "No objects") {
		t.Errorf("got %s", got)
	}
}
