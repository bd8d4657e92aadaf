package task_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task"
)

// targets is a dialer that writes down whom it was asked for.
type targets []sidecar.Target

func (d *targets) Sidecar(t sidecar.Target) sidecar.Sidecar {
	*d = append(*d, t)
	return struct{ sidecar.Sidecar }{}
}

func controlledBy(kind string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{Kind: kind, UID: uid, Controller: new(true)}}
}

// ownObjects are a node's StatefulSet, Job and running pod, which tells its sidecar the node's UID.
func ownObjects() (*v1alpha1.SeiNode, *task.Objects) {
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: "node"}}
	o := &task.Objects{
		StatefulSet: &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{UID: "sts", OwnerReferences: controlledBy("SeiNode", "node")}},
		Job:         &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job", OwnerReferences: controlledBy("SeiNode", "node")}},
		Pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{UID: "pod", OwnerReferences: controlledBy("StatefulSet", "sts")},
			Spec: corev1.PodSpec{InitContainers: []corev1.Container{
				{Name: render.ContainerSidecar, Env: []corev1.EnvVar{{Name: render.EnvNodeUID, Value: "node"}}},
			}},
			Status: corev1.PodStatus{PodIP: "10.0.0.1", InitContainerStatuses: []corev1.ContainerStatus{
				{Name: render.ContainerSidecar, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			}},
		},
	}
	return node, o
}

func TestDial_OnlyThePodOfTheNodesOwnStatefulSetOrJob(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*task.Objects)
		want   string // the audience; empty when the pod must not be dialled
		// serverName is in the certificate that it has to show; empty for plain HTTP.
		serverName string
	}{
		"of its StatefulSet": {func(*task.Objects) {}, "sei-sidecar/ns/n/node", ""},
		"of its Job":         {func(o *task.Objects) { o.Pod.OwnerReferences = controlledBy("Job", "job") }, "sei-sidecar/ns/n/node", ""},
		"of an adopted StatefulSet": {func(o *task.Objects) { o.Pod.Spec.InitContainers[0].Env[0].Value = "before" },
			"sei-sidecar/ns/n/before", ""},
		"of an older operator":    {func(o *task.Objects) { o.Pod.Spec.InitContainers[0].Env = nil }, api.TokenAudience, ""},
		"that asks for another's": {func(o *task.Objects) { o.Pod.Spec.InitContainers[0].Env[0].Value = "x" }, "sei-sidecar/ns/n/x", ""},
		"that asks for anything": {func(o *task.Objects) { o.Pod.Spec.InitContainers[0].Env[0].Value = strings.Repeat("x", 65) },
			"sei-sidecar/ns/n/node", ""},
		"with a certificate": {func(o *task.Objects) {
			o.Pod.Spec.InitContainers[0].Env = append(o.Pod.Spec.InitContainers[0].Env, corev1.EnvVar{Name: render.EnvTLSDir, Value: "/tls"})
		}, "sei-sidecar/ns/n/node", "node.n.ns.sidecar.sei.io"},
		"with a certificate, of an adopted StatefulSet": {func(o *task.Objects) {
			o.Pod.Spec.InitContainers[0].Env = []corev1.EnvVar{{Name: render.EnvNodeUID, Value: "before"}, {Name: render.EnvTLSDir, Value: "/tls"}}
		}, "sei-sidecar/ns/n/before", "node.n.ns.sidecar.sei.io"},
		"told in another container": {func(o *task.Objects) { o.Pod.Spec.InitContainers[0].Name = "other" }, api.TokenAudience, ""},

		"no pod":                       {func(o *task.Objects) { o.Pod = nil }, "", ""},
		"without an owner":             {func(o *task.Objects) { o.Pod.OwnerReferences = nil }, "", ""},
		"of another StatefulSet":       {func(o *task.Objects) { o.Pod.OwnerReferences[0].UID = "other" }, "", ""},
		"owned, not controlled":        {func(o *task.Objects) { o.Pod.OwnerReferences[0].Controller = nil }, "", ""},
		"its StatefulSet is another's": {func(o *task.Objects) { o.StatefulSet.OwnerReferences[0].UID = "other" }, "", ""},
		"its StatefulSet is nobody's":  {func(o *task.Objects) { o.StatefulSet.OwnerReferences = nil }, "", ""},
		"its StatefulSet is gone":      {func(o *task.Objects) { o.StatefulSet = nil }, "", ""},
		"of a Job of another": {func(o *task.Objects) {
			o.Pod.OwnerReferences, o.Job.OwnerReferences[0].UID = controlledBy("Job", "job"), "other"
		}, "", ""},
		"the node's own uid as owner": {func(o *task.Objects) { o.Pod.OwnerReferences = controlledBy("SeiNode", "node") }, "", ""},
		"being deleted":               {func(o *task.Objects) { o.Pod.DeletionTimestamp = new(metav1.Now()) }, "", ""},
		"without an address":          {func(o *task.Objects) { o.Pod.Status.PodIP = "" }, "", ""},
		"its sidecar is not running":  {func(o *task.Objects) { o.Pod.Status.InitContainerStatuses = nil }, "", ""},
	} {
		node, o := ownObjects()
		c.change(o)
		var dialled targets
		got := o.Dial(&dialled, node)
		if (got != nil) != (c.want != "") || len(dialled) > 1 || len(dialled) == 0 && c.want != "" {
			t.Errorf("%s: dialled %v, want audience %q", name, dialled, c.want)
			continue
		}
		if c.want == "" {
			continue
		}
		want := sidecar.Target{Address: "10.0.0.1:7777", Node: "ns/n", PodUID: "pod", Audience: c.want, ServerName: c.serverName}
		if diff := cmp.Diff(want, dialled[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Whoever names a sidecar's address has to have checked whose pod it is. Only Dial does.
func TestSource_NobodyElseDials(t *testing.T) {
	root := filepath.Join("..", "..")
	found := 0
	for _, dir := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				if of, ok := literal.Type.(*ast.SelectorExpr); ok && of.Sel.Name == "Target" && importedClient(file, of) {
					found++
					if !strings.HasSuffix(path, filepath.Join("task", "dial.go")) && !strings.Contains(path, "crashtest") {
						t.Errorf("%s makes a Target: use Objects.Dial", path)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("nothing was found: the test looks for the wrong thing")
	}
}

// importedClient reports whether a selector's package is the sidecar's client.
func importedClient(file *ast.File, of *ast.SelectorExpr) bool {
	name, ok := of.X.(*ast.Ident)
	if !ok {
		return false
	}
	for _, i := range file.Imports {
		if strings.Trim(i.Path.Value, `"`) != "github.com/sei-operator/sei-operator/internal/sidecar/client" {
			continue
		}
		return i.Name == nil && name.Name == "client" || i.Name != nil && name.Name == i.Name.Name
	}
	return false
}
