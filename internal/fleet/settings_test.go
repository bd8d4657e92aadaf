package fleet_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

func amount(size v1alpha1.Amount) *v1alpha1.NodeResources {
	return &v1alpha1.NodeResources{Requests: &v1alpha1.ResourceAmounts{Memory: size}}
}

func memory(size string) *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(size)}}
}

func TestTarget_SettingsOfANode_AreOverTheTemplate(t *testing.T) {
	snd := rpcFleet()
	snd.Spec.Template.Spec.Overrides = map[string]string{"a": "template", "b": "template"}
	snd.Spec.Template.Spec.Resources = memory("1Gi")
	snd.Spec.Template.Spec.Paused = true
	snd.Spec.Nodes = []v1alpha1.NodeSettings{{
		Ordinal: 1, Paused: new(bool), Overrides: map[string]string{"b": "node", "c": "node"}, ExternalAddress: "one.example:26656", Resources: amount("2Gi"),
	}, {Ordinal: 2}}
	template, own := fleet.Target(snd, platform.Default(), 0), fleet.Target(snd, platform.Default(), 1)
	want := template.Spec.DeepCopy()
	want.Paused, want.ExternalAddress, want.Resources = false, "one.example:26656", memory("2Gi")
	want.Overrides = map[string]string{"a": "template", "b": "node", "c": "node"}
	if diff := cmp.Diff(want, own.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(template.Spec, fleet.Target(snd, platform.Default(), 2).Spec); diff != "" {
		t.Errorf("settings that say nothing change a node (-template +got):\n%s", diff)
	}
	if snd.Spec.Template.Spec.Overrides["b"] != "template" {
		t.Error("the template was changed")
	}
}

func TestTarget_SettingsWithoutOverridesInTheTemplate(t *testing.T) {
	snd := rpcFleet()
	snd.Spec.Nodes = []v1alpha1.NodeSettings{{Ordinal: 0, Overrides: map[string]string{"a": "1"}}}
	if got := fleet.Target(snd, platform.Default(), 0).Spec.Overrides; got["a"] != "1" {
		t.Errorf("overrides %v, want %q", got, "1")
	}
}

// Settings are part of what a rollout leads to, as far as they disturb their node.
func TestTargetHash_SettingsThatRollAreInIt(t *testing.T) {
	hash := func(nodes ...v1alpha1.NodeSettings) string {
		snd := rpcFleet()
		snd.Spec.Nodes = nodes
		h, err := fleet.TargetHash(snd, platform.Default())
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	none := hash()
	for name, same := range map[string][]v1alpha1.NodeSettings{
		"empty":     {{Ordinal: 0}},
		"paused":    {{Ordinal: 1, Paused: new(true)}},
		"of nobody": {{Ordinal: 7, Overrides: map[string]string{"a": "1"}}},
	} {
		if hash(same...) != none {
			t.Errorf("settings that are %s make a rollout", name)
		}
	}
	different := []string{
		none, hash(v1alpha1.NodeSettings{Ordinal: 0, Overrides: map[string]string{"a": "1"}}), hash(v1alpha1.NodeSettings{Ordinal: 1, Overrides: map[string]string{"a": "1"}}),
		hash(v1alpha1.NodeSettings{Ordinal: 1, ExternalAddress: "a:1"}), hash(v1alpha1.NodeSettings{Ordinal: 1, Resources: amount("1Gi")}),
	}
	slices.Sort(different)
	if len(slices.Compact(different)) != 5 {
		t.Errorf("different settings have the same hash: %v", different)
	}
}

func TestTarget_ResourcesOfANode_EveryAmountCounts(t *testing.T) {
	snd := rpcFleet()
	snd.Spec.Nodes = []v1alpha1.NodeSettings{{Ordinal: 0, Resources: &v1alpha1.NodeResources{
		Requests: &v1alpha1.ResourceAmounts{CPU: "1", Memory: "2Gi", EphemeralStorage: "3Gi"},
		Limits:   &v1alpha1.ResourceAmounts{CPU: "4", Memory: "5Gi", EphemeralStorage: "6Gi"},
	}}}
	list := func(cpu, memory, storage string) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
			corev1.ResourceEphemeralStorage: resource.MustParse(storage),
		}
	}
	want := &corev1.ResourceRequirements{Requests: list("1", "2Gi", "3Gi"), Limits: list("4", "5Gi", "6Gi")}
	if diff := cmp.Diff(want, fleet.Target(snd, platform.Default(), 0).Spec.Resources); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}
