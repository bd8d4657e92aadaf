package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

func (p *plugin) node(t *testing.T, name string) *seiv1.SeiNode {
	t.Helper()
	node := &seiv1.SeiNode{}
	if err := p.cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: testNamespace, Name: name}, node); err != nil {
		t.Fatal(err)
	}
	return node
}

func (p *plugin) fleet(t *testing.T) *seiv1.SeiNodeDeployment {
	t.Helper()
	fleet := &seiv1.SeiNodeDeployment{}
	if err := p.cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: testNamespace, Name: "rpc"}, fleet); err != nil {
		t.Fatal(err)
	}
	return fleet
}

func aCluster(t *testing.T) *plugin {
	t.Helper()
	return newPlugin(t, aFleet(), member(0), member(1), member(2), aNode("val"))
}

func wantPrinted(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func TestPause_ALoneNode_IsStopped(t *testing.T) {
	p := aCluster(t)
	wantPrinted(t, p.mustRun(t, "pause", "val"), "seinode.sei.io/val paused\n")
	if !p.node(t, "val").Spec.Paused {
		t.Error("the node is not paused")
	}
	wantPrinted(t, p.mustRun(t, "pause", "val"), "seinode.sei.io/val unchanged\n")
	wantPrinted(t, p.mustRun(t, "resume", "node/val", "-o", "name"), "seinode.sei.io/val\n")
	if p.node(t, "val").Spec.Paused {
		t.Error("the node is still paused")
	}
}

func TestPause_ANodeOfAFleet_IsASettingOfTheFleet(t *testing.T) {
	p := aCluster(t)
	wantPrinted(t, p.mustRun(t, "pause", "rpc-1"), "seinodedeployment.sei.io/rpc node rpc-1 paused\n")
	fleet := p.fleet(t)
	if len(fleet.Spec.Nodes) != 1 || fleet.Spec.Nodes[0].Ordinal != 1 || !*fleet.Spec.Nodes[0].Paused || fleet.Spec.Paused || p.node(t, "rpc-1").Spec.Paused {
		t.Errorf("fleet %+v, node rpc-1 paused: %t, want the entry of ordinal 1 alone to pause", fleet.Spec, p.node(t, "rpc-1").Spec.Paused)
	}
	p.mustRun(t, "resume", "rpc-1")
	if fleet := p.fleet(t); len(fleet.Spec.Nodes) != 0 {
		t.Errorf("left %+v, want no settings of nodes", fleet.Spec.Nodes)
	}
}

// A node that an earlier fleet of the name has left behind is paused itself: the fleet does not write it,
// so that a setting of the fleet would stop nothing.
func TestPause_ANodeThatTheFleetDoesNotHave_IsStoppedItself(t *testing.T) {
	for name, c := range map[string]struct {
		ordinal int
		change  func(*seiv1.SeiNode)
	}{
		"left behind by an earlier fleet": {1, func(n *seiv1.SeiNode) {
			n.OwnerReferences, n.Annotations = nil, map[string]string{seiv1.AnnotationDeploymentUID: "earlier"}
		}},
		"its own, and beyond its size": {7, func(*seiv1.SeiNode) {}},
	} {
		node := member(c.ordinal)
		c.change(node)
		p := newPlugin(t, aFleet(), node)
		wantPrinted(t, p.mustRun(t, "pause", node.Name), "seinode.sei.io/"+node.Name+" paused\n")
		if fleet := p.fleet(t); !p.node(t, node.Name).Spec.Paused || len(fleet.Spec.Nodes) > 0 {
			t.Errorf("%s: paused %t, settings of the fleet %+v; want true and none", name, p.node(t, node.Name).Spec.Paused, fleet.Spec.Nodes)
		}
	}
	retained := member(1)
	retained.OwnerReferences, retained.Annotations = nil, map[string]string{seiv1.AnnotationDeploymentUID: "fleet-uid"}
	p := newPlugin(t, aFleet(), retained)
	wantPrinted(t, p.mustRun(t, "pause", "rpc-1"), "seinodedeployment.sei.io/rpc node rpc-1 paused\n")
}

func TestResume_ANodeOfAStoppedFleet_RunsAlone(t *testing.T) {
	fleet := aFleet()
	fleet.Spec.Template.Spec.Paused = true
	fleet.Spec.Nodes = []seiv1.NodeSettings{{Ordinal: 0, ExternalAddress: "a.example.com:26656"}}
	p := newPlugin(t, fleet, member(0))
	p.mustRun(t, "resume", "rpc-0")
	if s := p.fleet(t).Spec.Nodes; len(s) != 1 || s[0].Paused == nil || *s[0].Paused || s[0].ExternalAddress == "" {
		t.Errorf("settings %+v, want paused: false, and the external address kept", s)
	}
	p.mustRun(t, "resume", "fleet/rpc")
	if !strings.Contains(p.err.String(), "template.spec.paused") {
		t.Errorf("warned %q, want a warning about template.spec.paused", p.err)
	}
}

func TestPause_AFleet_IsFrozen(t *testing.T) {
	for _, args := range [][]string{{"pause", "rpc"}, {"rollout", "pause", "rpc"}} {
		p := aCluster(t)
		p.mustRun(t, args...)
		if fleet := p.fleet(t); !fleet.Spec.Paused || fleet.Spec.Template.Spec.Paused {
			t.Errorf("%v: paused %t, its template %t, want true and false", args, fleet.Spec.Paused, fleet.Spec.Template.Spec.Paused)
		}
		p.mustRun(t, "rollout", "resume", "rpc")
		if p.fleet(t).Spec.Paused {
			t.Errorf("%v: still paused", args)
		}
	}
}

func TestDryRun_WritesNothing(t *testing.T) {
	p := aCluster(t)
	for _, args := range [][]string{
		{"pause", "val"}, {"pause", "rpc-1"}, {"retry", "rpc"}, {"restart", "rpc"}, {"set", "image", "val", newImage}, {"op", "run", "restart-seid", "rpc"},
	} {
		for _, how := range []string{"--dry-run", "--dry-run=client", "--dry-run=server"} {
			if out := p.mustRun(t, append(args, how)...); !strings.Contains(out, "dry run)") {
				t.Errorf("%v %s printed %q, want that it is a dry run", args, how, out)
			}
		}
	}
	tasks := &seiv1.SeiNodeTaskList{}
	if err := p.cluster.Client.List(t.Context(), tasks); err != nil || len(tasks.Items) > 0 {
		t.Errorf("made tasks %v, %v, want none and no error", tasks.Items, err)
	}
	if p.node(t, "val").Spec.Paused || p.node(t, "val").Spec.Image != oldImage || len(p.fleet(t).Spec.Nodes)+len(p.fleet(t).Annotations) > 0 {
		t.Error("something was changed")
	}
	if _, err := p.run(t, "pause", "val", "--dry-run=maybe"); err == nil {
		t.Error("--dry-run=maybe was accepted")
	}
	golden(t, "set-image-dry-run.yaml", p.mustRun(t, "set", "image", "val", newImage, "--dry-run", "-o", "yaml"))
}

func TestRetryAndRestart_SetANewValue(t *testing.T) {
	p := aCluster(t)
	wantPrinted(t, p.mustRun(t, "retry", "val"), "seinode.sei.io/val asked to retry\n")
	p.mustRun(t, "restart", "rpc-1")
	p.mustRun(t, "retry", "fleet/rpc")
	p.mustRun(t, "restart", "fleet/rpc")
	const want = "2026-11-15T12:00:00Z"
	fleet := p.fleet(t)
	if p.node(t, "val").Annotations[seiv1.AnnotationRetry] != want || p.node(t, "rpc-1").Annotations[seiv1.AnnotationRestart] != want ||
		fleet.Annotations[seiv1.AnnotationRetry] != want || fleet.Spec.Template.Metadata.Annotations[seiv1.AnnotationRestart] != want {
		t.Errorf("annotations %v, %v, %v, %v, want %s in each",
			p.node(t, "val").Annotations, p.node(t, "rpc-1").Annotations, fleet.Annotations, fleet.Spec.Template.Metadata.Annotations, want)
	}
	if _, err := p.run(t, "restart", "rpc-1"); err == nil || !strings.Contains(err.Error(), "fleet/rpc") {
		t.Errorf("restart of a node whose fleet sets the annotation: %v, want an error that names fleet/rpc", err)
	}
	if p.mustRun(t, "retry", "rpc-1"); p.node(t, "rpc-1").Annotations[seiv1.AnnotationRetry] != want {
		t.Errorf("retry of a node whose fleet was retried: annotations %v, want %s", p.node(t, "rpc-1").Annotations, want)
	}
}

func TestSetImage_OfAFleetsNode_IsRefused(t *testing.T) {
	p := aCluster(t)
	if _, err := p.run(t, "set", "image", "rpc-1", newImage); err == nil || !strings.Contains(err.Error(), "fleet/rpc") {
		t.Errorf("error %v, want one that names fleet/rpc", err)
	}
	p.mustRun(t, "set", "image", "rpc", newImage)
	p.mustRun(t, "set", "image", "val", newImage)
	if p.fleet(t).Spec.Template.Spec.Image != newImage || p.node(t, "val").Spec.Image != newImage {
		t.Error("the image was not set")
	}
}

func TestSetImage_AnUpgradeIsInForce_Warns(t *testing.T) {
	node := aNode("val")
	node.Spec.Upgrades = []seiv1.ChainUpgrade{{Name: "v6.4", Image: oldImage}}
	node.Status.Upgrade = &seiv1.UpgradeStatus{Entry: "v6.4", Image: oldImage}
	p := newPlugin(t, node)
	p.mustRun(t, "set", "image", "val", newImage)
	if !strings.Contains(p.err.String(), "spec.upgrades") {
		t.Errorf("warned %q, want a warning about spec.upgrades", p.err)
	}
}

// The operator writes nodes all the time: a change that lost the race is recreated on what is there now.
func TestChange_SomebodyElseWasFaster_IsMadeAnew(t *testing.T) {
	p := aCluster(t)
	lost := false
	p.cluster.Client = interceptor.NewClient(p.cluster.Client, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if !lost {
				lost = true
				return apierrors.NewConflict(schema.GroupResource{Resource: "seinodes"}, obj.GetName(), errors.New("changed"))
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
	})
	wantPrinted(t, p.mustRun(t, "pause", "val"), "seinode.sei.io/val paused\n")
	if !p.node(t, "val").Spec.Paused {
		t.Error("the node is not paused")
	}
}

func TestFind_AnAmbiguousName_AsksForTheKind(t *testing.T) {
	twin := aNode("rpc")
	p := newPlugin(t, aFleet(), twin)
	if _, err := p.run(t, "pause", "rpc"); err == nil || !strings.Contains(err.Error(), "node/rpc or fleet/rpc") {
		t.Errorf("error %v, want one that names node/rpc and fleet/rpc", err)
	}
	p.mustRun(t, "pause", "snode/rpc")
	if !p.node(t, "rpc").Spec.Paused || p.fleet(t).Spec.Paused {
		t.Error("the wrong one was paused")
	}
}
