package render_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sei-operator/sei-operator/internal/render"
)

func TestUpgradeSnapshotName_IsANameAndTellsUpgradesApart(t *testing.T) {
	n, seen := fullNode(), map[string]string{}
	for _, upgrade := range []string{"v6.4.0", "v6-4-0", "V6.4.0", "v6..4", "v6.4.0 (hotfix)", "ä", strings.Repeat("x", 140), strings.Repeat("X", 140)} {
		name := render.UpgradeSnapshotName(n, upgrade)
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			t.Errorf("%s: %s is no name: %v", upgrade, name, problems)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%s and %s share the name %s", upgrade, other, name)
		}
		seen[name] = upgrade
	}
	if name := render.UpgradeSnapshotName(n, "v6.4.0"); name != n.Name+"-before-v6.4.0" {
		t.Errorf("name %s, want %v", name, n.Name+"-before-v6.4.0")
	}
}

func TestUpgradeSnapshot_IsOfTheNodesClaimAndNobodyOwnsIt(t *testing.T) {
	in := input(fullNode())
	obj := render.UpgradeSnapshot(in, "v2")
	spec := obj.Object["spec"].(map[string]any)
	if _, classed := spec["volumeSnapshotClassName"]; classed || spec["source"].(map[string]any)["persistentVolumeClaimName"] != render.ClaimName(in.Node) {
		t.Errorf("spec %v", spec)
	}
	if len(obj.GetOwnerReferences()) != 0 {
		t.Errorf("owners %v, want none", obj.GetOwnerReferences())
	}
	in.Platform.VolumeSnapshots.ClassName = "fast"
	if got := render.UpgradeSnapshot(in, "v2").Object["spec"].(map[string]any)["volumeSnapshotClassName"]; got != "fast" {
		t.Errorf("class %v, want %q", got, "fast")
	}
}
