package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// keep writes down all objects of a namespace but Secrets, as the API server has them, and the metrics of its nodes. It
// is called before the namespace is deleted.
func (e *evidence) keep(namespace string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	lists, err := e.clients.Discovery().ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		e.complain("finding the kinds of objects", err)
		return
	}
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, resource := range list.APIResources {
			isSecret := group.Group == "" && resource.Name == "secrets"
			if isSecret || resource.Namespaced != (namespace != "") || !slices.Contains(resource.Verbs, "list") {
				continue
			}
			e.keepAnswer(ctx, filepath.Join("objects", namespace, group.Group+"."+resource.Name), pathOf(group, namespace, resource.Name))
		}
	}
	if namespace != "" {
		e.keepMetrics(ctx, namespace)
	}
}

func pathOf(group schema.GroupVersion, namespace, resource string) string {
	path := "/apis/" + group.String()
	if group.Group == "" {
		path = "/api/" + group.Version
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + resource
}

// keepMetrics asks the nodes of a namespace for what they tell scrapers. One that does not run tells nothing.
func (e *evidence) keepMetrics(ctx context.Context, namespace string) {
	pods, err := e.clients.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelNode})
	if err != nil {
		e.complain("listing pods", err)
		return
	}
	for i := range pods.Items {
		pod := pods.Items[i].Name
		for port, path := range map[int32]string{api.DefaultPort: api.PathMetrics, seid.PortMetrics: "/metrics"} {
			content, err := e.clients.CoreV1().RESTClient().Get().
				AbsPath(fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy%s", namespace, pod, port, path)).DoRaw(ctx)
			if err == nil {
				e.write(filepath.Join("metrics", namespace, fmt.Sprintf("%s-%d", pod, port)), content)
			}
		}
	}
}

func (e *evidence) keepAnswer(ctx context.Context, file, path string) {
	content, err := e.clients.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(ctx)
	if err != nil {
		e.complain("asking for "+path, err)
		return
	}
	e.write(file, content)
}

func (e *evidence) write(file string, content []byte) {
	path := filepath.Join(e.dir, file)
	err := os.MkdirAll(filepath.Dir(path), 0o750)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		e.complain("writing "+file, err)
	}
}

func (e *evidence) complain(doing string, err error) {
	fmt.Fprintf(os.Stderr, "e2e: collecting evidence: %s: %v\n", doing, err)
}

// keepRest writes down what is left when the scenarios have ended: namespaces that stay, objects of no namespace, the
// metrics of the operator, and objects of the buckets but snapshots.
func (e *evidence) keepRest() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e.keep("")
	namespaces, err := e.clients.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		e.complain("listing namespaces", err)
		return
	}
	for i := range namespaces.Items {
		e.keep(namespaces.Items[i].Name)
	}
	reports, err := e.store.keys(bucketResults, "")
	if err != nil {
		e.complain("listing reports", err)
	}
	for _, key := range reports {
		if content, err := e.store.read(bucketResults, key); err == nil {
			e.write(filepath.Join("reports", strings.ReplaceAll(key, "/", "_")), content)
		}
	}
}
