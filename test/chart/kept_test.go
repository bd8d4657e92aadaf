package chart

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// samples are what users have when the operator is upgraded: one object of each kind.
var samples = []string{"seinode-full", "seinodedeployment-rpc", "seinodetask-restart-seid"}

// createSamples creates them as soon as the API server serves their kinds.
func (c *cluster) createSamples(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	created := make([]*unstructured.Unstructured, 0, len(samples))
	for _, sample := range samples {
		content, err := os.ReadFile(filepath.Join(root, "config", "samples", sample+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		object := decode(t, string(content))[0]
		object.SetNamespace("default")
		err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			err := c.Create(ctx, object)
			if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
				return false, nil // the CRD was created a moment ago
			}
			return err == nil, err
		})
		if err != nil {
			t.Fatalf("creating %s: %v", sample, err)
		}
		created = append(created, object)
	}
	return created
}

// checkKept fails unless objects are as they were: the same ones, with the same spec, and not about to go.
func (c *cluster) checkKept(t *testing.T, after string, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, before := range objects {
		now, err := c.get(t, before)
		if err != nil {
			t.Errorf("after %s: reading %s: %v", after, name(before), err)
			continue
		}
		if now.GetUID() != before.GetUID() || now.GetDeletionTimestamp() != nil || now.GetGeneration() != before.GetGeneration() {
			t.Errorf("after %s: %s is not as it was: uid %s, was %s; deleted %v; generation %d, was %d", after, name(before),
				now.GetUID(), before.GetUID(), now.GetDeletionTimestamp(), now.GetGeneration(), before.GetGeneration())
		}
		if diff := cmp.Diff(before.Object["spec"], now.Object["spec"]); diff != "" {
			t.Errorf("after %s: spec of %s (-before +now):\n%s", after, name(before), diff)
		}
	}
}

// crds are the CRDs on the cluster, by name.
func (c *cluster) crds(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"})
	if err := c.List(t.Context(), list); err != nil {
		t.Fatalf("listing CRDs: %v", err)
	}
	found := map[string]*unstructured.Unstructured{}
	for _, item := range list.Items {
		found[item.GetName()] = &item
	}
	if len(found) != 3 {
		t.Fatalf("there are %d CRDs, want 3", len(found))
	}
	return found
}

// checkIdentities fails if a CRD was recreated: all objects of its kind would have gone with the old one.
func checkIdentities(t *testing.T, after string, before, now map[string]*unstructured.Unstructured) {
	t.Helper()
	for key, crd := range before {
		if now[key].GetUID() != crd.GetUID() || now[key].GetDeletionTimestamp() != nil {
			t.Errorf("after %s: CRD %s is another one, or about to go", after, key)
		}
	}
}

// checkSchemas fails unless the CRDs are those of the chart, which another chart was installed before.
func checkSchemas(t *testing.T, rendered []*unstructured.Unstructured, previous, now map[string]*unstructured.Unstructured) {
	t.Helper()
	for _, crd := range rendered {
		if crd.GetKind() != "CustomResourceDefinition" {
			continue
		}
		if cmp.Equal(versions(t, crd), versions(t, previous[crd.GetName()])) {
			t.Errorf("the previous chart has the same CRD %s: the test shows no upgrade", crd.GetName())
		}
		if diff := cmp.Diff(versions(t, crd), versions(t, now[crd.GetName()])); diff != "" {
			t.Errorf("CRD %s (-chart +cluster):\n%s", crd.GetName(), diff)
		}
	}
}

func versions(t *testing.T, crd *unstructured.Unstructured) []any {
	t.Helper()
	found, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil || len(found) == 0 {
		t.Fatalf("CRD %s has no versions: %v", crd.GetName(), err)
	}
	return found
}

// checkGone fails if anything of the chart is left, the CRDs aside.
func (c *cluster) checkGone(t *testing.T, rendered []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range rendered {
		if object.GetKind() == "CustomResourceDefinition" {
			continue
		}
		if now, err := c.get(t, object); !apierrors.IsNotFound(err) && now.GetDeletionTimestamp() == nil {
			t.Errorf("%s is left: %v", name(object), err)
		}
	}
}

// checkReleaseSize fails when a release comes near to what a Secret can hold: the chart, with its CRDs, and the rendered
// objects are stored in one.
func (c *cluster) checkReleaseSize(t *testing.T) {
	t.Helper()
	const limit = corev1.MaxSecretSize / 2
	secrets := &corev1.SecretList{}
	if err := c.List(t.Context(), secrets, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
		t.Fatal(err)
	}
	for _, secret := range secrets.Items {
		t.Logf("%s: %d bytes", secret.Name, len(secret.Data["release"]))
		if size := len(secret.Data["release"]); size == 0 || size > limit {
			t.Errorf("release %s has %d bytes, want at most %d", secret.Name, size, limit)
		}
	}
}
