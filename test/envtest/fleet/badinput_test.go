package fleet

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// What the API server refuses names the field and the way out, and the fleet runs as it was.
func TestBadInput_ThatIsRefused_SaysWhatToDo(t *testing.T) {
	w := newWorld(t)
	w.Create(rpc("rpc", 2))
	for name, c := range map[string]struct {
		change func(*v1alpha1.SeiNodeDeployment)
		want   []string
	}{
		"an ordinal twice": {
			settings(v1alpha1.NodeSettings{Ordinal: 1}, v1alpha1.NodeSettings{Ordinal: 1, Paused: new(true)}),
			[]string{"spec.nodes[1]: Duplicate value", `"ordinal":1`},
		},
		"an ordinal below all":   {settings(v1alpha1.NodeSettings{Ordinal: -1}), []string{"spec.nodes[0].ordinal", "greater than or equal to 0"}},
		"an ordinal above all":   {settings(v1alpha1.NodeSettings{Ordinal: 100}), []string{"spec.nodes[0].ordinal", "less than or equal to 99"}},
		"an ordinal in an image": {image("seid:$(ORDINAL)"), []string{"$(ORDINAL) means nothing in template.spec.image", "write the image"}},
		"an ordinal in an address": {
			func(s *v1alpha1.SeiNodeDeployment) {
				s.Spec.Template.Spec.ExternalAddress, s.Spec.Replicas = "n-$(ORDINAL).example:26656", 1
			},
			[]string{"$(ORDINAL) means nothing in template.spec.externalAddress", "set networking.tcp", "nodes[].externalAddress"},
		},
		"one address for two": {
			func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.ExternalAddress = "n.example:26656" },
			[]string{"template.spec.externalAddress is the address of one node and demands replicas: 1", "set networking.tcp", "nodes[].externalAddress"},
		},
		"a partition below all": {
			func(s *v1alpha1.SeiNodeDeployment) { s.Spec.UpdateStrategy.InPlace.Partition = -1 },
			[]string{"spec.updateStrategy.inPlace.partition", "greater than or equal to 0"},
		},
	} {
		before := w.fleet("rpc")
		after := before.DeepCopy()
		c.change(after)
		err := w.Client.Patch(t.Context(), after, client.MergeFrom(before))
		if err == nil {
			t.Fatalf("%s: accepted", name)
		}
		for _, words := range c.want {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %q is not in %v", name, words, err)
			}
		}
	}
	w.StartOperator()
	w.await("rpc", settled)
}

// What only a look at the whole fleet shows is named by SpecValid; what else was asked for is done.
func TestBadInput_ThatIsAccepted_IsNamedAndTheFleetGoesOn(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 2))
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Replicas, s.Spec.UpdateStrategy.InPlace.Partition = 3, 4
		s.Spec.Nodes = []v1alpha1.NodeSettings{{Ordinal: 1, Paused: new(false)}, {Ordinal: 9, Paused: new(true)}}
	})
	got := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return settled(s) && is(s, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonSpecInvalid)
	})
	for _, words := range []string{
		"spec.updateStrategy.inPlace.partition is 4, beyond the 3 replicas, so no node is updated: set it to 3 or less",
		"spec.nodes[1].ordinal is 9, and the fleet has no such node (its ordinals are 0-2): correct or remove the entry",
	} {
		if text := message(got, v1alpha1.ConditionSpecValid); !strings.Contains(text, words) {
			t.Errorf("%q is not in %q", words, text)
		}
	}
	w.edit("rpc", image("seid:b"))
	held := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.ObservedGeneration == s.Generation })
	if held.Status.ReadyReplicas != 3 || held.Status.Rollout != nil {
		t.Errorf("%d nodes are ready, rollout %+v, want 3 and no rollout", held.Status.ReadyReplicas, held.Status.Rollout)
	}
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.UpdateStrategy.InPlace.Partition, s.Spec.Nodes = 0, nil })
	done := w.await("rpc", runs("seid:b"))
	wantCondition(t, done, v1alpha1.ConditionSpecValid, metav1.ConditionTrue, "")
}
