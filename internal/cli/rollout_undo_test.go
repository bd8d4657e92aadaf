package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

const oldestImage = "registry.example.com/seid:v6.3.0"

// revision is a template of fleet rpc that is kept.
func revision(t *testing.T, number int64, age time.Duration, change func(*seiv1.SeiNodeTemplate)) *appsv1.ControllerRevision {
	t.Helper()
	template := aFleet().Spec.Template.DeepCopy()
	change(template)
	raw, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: fleet.RevisionName("rpc", raw), Namespace: testNamespace, CreationTimestamp: ago(age),
			Labels: map[string]string{seiv1.LabelDeployment: "rpc", seiv1.LabelRevisionOf: "rpc"},
		},
		Revision: number, Data: runtime.RawExtension{Raw: raw},
	}
}

func withImage(image string) func(*seiv1.SeiNodeTemplate) {
	return func(template *seiv1.SeiNodeTemplate) { template.Spec.Image = image }
}

// remembered is fleet rpc in the middle of a rollout of its third template: node 0 has it, and 1 and 2
// have the second. A StatefulSet has a revision of its own.
func remembered(t *testing.T) *plugin {
	t.Helper()
	tuned := func(template *seiv1.SeiNodeTemplate) {
		template.Spec.Image, template.Spec.Overrides = newImage, map[string]string{"mempool.size": "5000"}
		template.Metadata.Labels = map[string]string{"team": "infra"}
	}
	snd := aFleet()
	tuned(&snd.Spec.Template)
	moved := member(0)
	moved.Spec.Image, moved.Spec.Overrides = newImage, map[string]string{"mempool.size": "5000"}
	sets := revision(t, 9, time.Minute, withImage("theirs"))
	sets.Name, sets.Labels = "rpc-0-6d5f9c8b7d", map[string]string{seiv1.LabelDeployment: "rpc", seiv1.LabelNode: "rpc-0"}
	return newPlugin(t, snd, moved, member(1), member(2), sets,
		revision(t, 3, time.Hour, tuned), revision(t, 2, 30*time.Hour, withImage(oldImage)), revision(t, 1, 90*24*time.Hour, withImage(oldestImage)))
}

func TestRolloutHistory(t *testing.T) {
	p := remembered(t)
	golden(t, "rollout-history.txt", p.mustRun(t, "rollout", "history", "rpc"))
	golden(t, "rollout-history-wide.txt", p.mustRun(t, "rollout", "history", "fleet/rpc", "-o", "wide"))
	golden(t, "rollout-history.json", p.mustRun(t, "rollout", "history", "rpc", "-o", "json"))
	golden(t, "rollout-history-name.txt", p.mustRun(t, "rollout", "history", "rpc", "-o", "name"))
	golden(t, "rollout-history-revision.txt", p.mustRun(t, "rollout", "history", "rpc", "--revision", "3"))
	golden(t, "rollout-history-revision.yaml", p.mustRun(t, "rollout", "history", "rpc", "--revision", "1", "-o", "yaml"))
	if _, err := p.run(t, "rollout", "history", "rpc", "--revision", "7"); err == nil || err.Error() != "fleet rpc has no revision 7: it has 3, 2, 1" {
		t.Errorf("an unknown revision: %v", err)
	}
	empty := newPlugin(t, aFleet())
	if out := empty.mustRun(t, "rollout", "history", "rpc"); out != "" || empty.err.String() != "No templates are kept.\n" {
		t.Errorf("without history: %q, %q", out, empty.err)
	}
}

func TestUndo_GoesBackToTheTemplateBefore(t *testing.T) {
	p := remembered(t)
	out := p.mustRun(t, "rollout", "undo", "rpc")
	if out != "seinodedeployment.sei.io/rpc rolled back to revision 2: metadata.labels, spec.image, spec.overrides\n" {
		t.Errorf("printed %q", out)
	}
	if got := p.fleet(t); got.Spec.Template.Spec.Image != oldImage || got.Spec.Template.Spec.Overrides != nil || got.Spec.Template.Metadata.Labels != nil || got.Spec.Replicas != 3 {
		t.Errorf("the fleet has %+v", got.Spec)
	}
}

func TestUndo_ToRevision(t *testing.T) {
	p := remembered(t)
	p.mustRun(t, "rollout", "undo", "fleet/rpc", "--to-revision", "1")
	if image := p.fleet(t).Spec.Template.Spec.Image; image != oldestImage {
		t.Errorf("the fleet has %s", image)
	}
	for revision, want := range map[string]string{
		"1": "revision 1 is the current template of fleet rpc: nothing to undo",
		"4": "fleet rpc has no revision 4: it has 3, 2, 1",
	} {
		if _, err := p.run(t, "rollout", "undo", "rpc", "--to-revision", revision); err == nil || err.Error() != want {
			t.Errorf("to %s: %v", revision, err)
		}
	}
}

// paused of a template reaches all nodes at once: an undo neither stops a fleet nor starts it.
func TestUndo_PausedOfTheTemplate_StaysAsItIs(t *testing.T) {
	stopped := func(template *seiv1.SeiNodeTemplate) { template.Spec.Paused = true }
	oldest := revision(t, 1, 3*time.Hour, func(template *seiv1.SeiNodeTemplate) { withImage(oldestImage)(template); stopped(template) })
	p := newPlugin(t, aFleet(), revision(t, 2, time.Hour, stopped), oldest)
	_, err := p.run(t, "rollout", "undo", "rpc", "--to-revision", "2")
	if err == nil || err.Error() != "revision 2 is the current template of fleet rpc: nothing to undo" {
		t.Errorf("to a revision that differs in paused alone: %v", err)
	}
	out := p.mustRun(t, "rollout", "undo", "rpc")
	wantPrinted(t, out, "seinodedeployment.sei.io/rpc rolled back to revision 1: spec.image\n")
	if got := p.fleet(t).Spec.Template.Spec; got.Paused || got.Image != oldestImage {
		t.Errorf("the fleet has %s, paused %t; want %s and false", got.Image, got.Paused, oldestImage)
	}
	snd := aFleet()
	stopped(&snd.Spec.Template)
	p = newPlugin(t, snd, revision(t, 1, time.Hour, withImage(oldestImage)))
	p.mustRun(t, "rollout", "undo", "rpc")
	if got := p.fleet(t).Spec.Template.Spec; !got.Paused || got.Image != oldestImage {
		t.Errorf("the fleet has %s, paused %t; want %s and true", got.Image, got.Paused, oldestImage)
	}
}

func TestUndo_DryRun_ChangesNothing(t *testing.T) {
	p := remembered(t)
	for _, how := range []string{"--dry-run", "--dry-run=server"} {
		if out := p.mustRun(t, "rollout", "undo", "rpc", how); !strings.Contains(out, "rolled back to revision 2") || !strings.Contains(out, "dry run)") {
			t.Errorf("%s printed %q", how, out)
		}
	}
	if image := p.fleet(t).Spec.Template.Spec.Image; image != newImage {
		t.Errorf("the fleet has %s", image)
	}
	golden(t, "rollout-undo-dry-run.yaml", p.mustRun(t, "rollout", "undo", "rpc", "--dry-run", "-o", "yaml"))
}

func TestUndo_NothingIsKept_IsRefused(t *testing.T) {
	for _, p := range []*plugin{newPlugin(t, aFleet()), newPlugin(t, aFleet(), revision(t, 1, time.Hour, func(*seiv1.SeiNodeTemplate) {}))} {
		if _, err := p.run(t, "rollout", "undo", "rpc"); err == nil || !strings.Contains(err.Error(), "fleet rpc keeps no earlier template: apply the earlier manifest") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := remembered(t).run(t, "rollout", "undo", "node/rpc-0"); err == nil {
		t.Error("undo of a node was accepted")
	}
}

func TestUndo_OfAPausedFleet_Warns(t *testing.T) {
	snd := aFleet()
	snd.Spec.Paused = true
	p := newPlugin(t, snd, revision(t, 1, time.Hour, withImage(oldestImage)))
	p.mustRun(t, "rollout", "undo", "rpc")
	if !strings.Contains(p.err.String(), "fleet rpc is paused: nodes get the template when it is resumed") {
		t.Errorf("warned %q", p.err)
	}
}

// onPatch answers the patches of a plugin, with how many there were before.
func onPatch(p *plugin, answer func(before int, obj client.Object) error) {
	count := 0
	p.cluster.Client = interceptor.NewClient(p.cluster.Client, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			count++
			if err := answer(count-1, obj); err != nil {
				return err
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
	})
}

// The operator writes the fleet's status all the time, which is no reason to give up; another template is.
func TestUndo_SomebodyElseWasFaster(t *testing.T) {
	lost := apierrors.NewConflict(schema.GroupResource{Resource: "seinodedeployments"}, "rpc", errors.New("changed"))
	p := remembered(t)
	onPatch(p, func(before int, _ client.Object) error {
		if before == 0 {
			return lost
		}
		return nil
	})
	p.mustRun(t, "rollout", "undo", "rpc")
	if image := p.fleet(t).Spec.Template.Spec.Image; image != oldImage {
		t.Errorf("the fleet has %s", image)
	}
	p = remembered(t)
	under := p.cluster.Client
	onPatch(p, func(int, client.Object) error {
		now := &seiv1.SeiNodeDeployment{}
		if err := under.Get(t.Context(), client.ObjectKey{Namespace: testNamespace, Name: "rpc"}, now); err != nil {
			return err
		}
		now.Spec.Template.Spec.Image = "registry.example.com/seid:v7.0.0"
		return errors.Join(under.Update(t.Context(), now))
	})
	_, err := p.run(t, "rollout", "undo", "rpc")
	if err == nil || !strings.Contains(err.Error(), "the template has changed meanwhile") || p.fleet(t).Spec.Template.Spec.Image != "registry.example.com/seid:v7.0.0" {
		t.Errorf("got %v, and the fleet has %s", err, p.fleet(t).Spec.Template.Spec.Image)
	}
}

// What the API server refuses is shown in its own words.
func TestUndo_RefusedByTheAPIServer_SaysWhy(t *testing.T) {
	p := remembered(t)
	onPatch(p, func(int, client.Object) error {
		return apierrors.NewInvalid(schema.GroupKind{Group: "sei.io", Kind: "SeiNodeDeployment"}, "rpc", nil)
	})
	if _, err := p.run(t, "rollout", "undo", "rpc"); !apierrors.IsInvalid(err) {
		t.Errorf("got %v", err)
	}
}
