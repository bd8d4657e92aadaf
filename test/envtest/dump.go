package envtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// dump writes the objects and events of a namespace to a folder and says where.
func (e *Env) dump(tb testing.TB, namespace string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir := os.Getenv("TEST_FAILURES_DIR")
	if dir == "" {
		dir = filepath.Join(e.Root, ".cache", "test-failures")
	}
	dir = filepath.Join(dir, namespace)
	if err := e.Dump(ctx, namespace, dir); err != nil {
		tb.Logf("writing the objects of namespace %s: %v", namespace, err)
	}
	tb.Logf("the objects and events of namespace %s are in %s", namespace, dir)
}

// Dump writes every object of a namespace, one file per resource, and its
// events as a readable list to a folder.
func (e *Env) Dump(ctx context.Context, namespace, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	resources, err := e.namespacedResources()
	if err != nil {
		return err
	}
	config := rest.CopyConfig(e.Config)
	config.WarningHandlerWithContext = rest.NoWarnings{}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	var errs []error
	for _, r := range resources {
		list, err := dyn.Resource(r).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			errs = append(errs, fmt.Errorf("listing %s: %w", r.Resource, err))
			continue
		}
		errs = append(errs, writeObjects(filepath.Join(dir, r.Resource+".yaml"), list))
	}
	return errors.Join(append(errs, e.writeEvents(ctx, namespace, filepath.Join(dir, "events.txt")))...)
}

func (e *Env) namespacedResources() ([]schema.GroupVersionResource, error) {
	d, err := discovery.NewDiscoveryClientForConfig(e.Config)
	if err != nil {
		return nil, fmt.Errorf("making a discovery client: %w", err)
	}
	lists, err := d.ServerPreferredNamespacedResources()
	if err != nil {
		return nil, fmt.Errorf("asking for resources: %w", err)
	}
	var found []schema.GroupVersionResource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("asking for resources: %w", err)
		}
		for _, r := range list.APIResources {
			if slices.Contains(r.Verbs, "list") && r.Name != "events" && !strings.Contains(r.Name, "/") {
				found = append(found, gv.WithResource(r.Name))
			}
		}
	}
	return found, nil
}

func writeObjects(path string, list *unstructured.UnstructuredList) error {
	if len(list.Items) == 0 {
		return nil
	}
	var b strings.Builder
	for _, obj := range list.Items {
		obj.SetManagedFields(nil)
		text, err := yaml.Marshal(obj.Object)
		if err != nil {
			return fmt.Errorf("encoding %s: %w", obj.GetName(), err)
		}
		fmt.Fprintf(&b, "---\n%s", text)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("writing objects: %w", err)
	}
	return nil
}

func (e *Env) writeEvents(ctx context.Context, namespace, path string) error {
	var events corev1.EventList
	if err := e.Client.List(ctx, &events, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("listing events: %w", err)
	}
	slices.SortFunc(events.Items, func(a, b corev1.Event) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.ResourceVersion, b.ResourceVersion))
	})
	var b strings.Builder
	for _, ev := range events.Items {
		fmt.Fprintf(&b, "%s %-7s %s/%s %s: %s\n", ev.CreationTimestamp.UTC().Format(time.TimeOnly), ev.Type,
			ev.InvolvedObject.Kind, ev.InvolvedObject.Name, ev.Reason, ev.Message)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("writing events: %w", err)
	}
	return nil
}

// objects are the items of a typed list.
func objects(list client.ObjectList) []client.Object {
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil
	}
	found := make([]client.Object, 0, len(items))
	for _, item := range items {
		if obj, ok := item.(client.Object); ok {
			found = append(found, obj)
		}
	}
	return found
}
