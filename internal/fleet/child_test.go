package fleet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

func rpcFleet() *v1alpha1.SeiNodeDeployment {
	return &v1alpha1.SeiNodeDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: "rpc", Namespace: "sei", UID: "fleet-uid"},
		Spec: v1alpha1.SeiNodeDeploymentSpec{
			Replicas: 3,
			Template: v1alpha1.SeiNodeTemplate{
				Metadata: v1alpha1.TemplateMetadata{
					Labels:      map[string]string{"team": "infra", v1alpha1.LabelRole: "mine"},
					Annotations: map[string]string{"note": "x"},
				},
				Spec: v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}},
			},
		},
	}
}

func genesisFleet() *v1alpha1.SeiNodeDeployment {
	snd := rpcFleet()
	snd.Name = "val"
	snd.Spec.Template.Spec = v1alpha1.SeiNodeSpec{ChainID: "demo", Image: "seid:a", Validator: &v1alpha1.ValidatorSpec{}}
	snd.Spec.Genesis = &v1alpha1.GenesisCeremony{ChainID: "demo", StakingAmount: "1usei", AccountBalance: "2usei"}
	return snd
}

// liveOf is a node as the API server has it after the target was applied.
func liveOf(t *testing.T, snd *v1alpha1.SeiNodeDeployment, ordinal int) *v1alpha1.SeiNode {
	t.Helper()
	c, err := fleet.Target(snd, platform.Default(), ordinal).Stamped()
	if err != nil {
		t.Fatal(err)
	}
	return &v1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{
			Name: c.Name, Namespace: "sei", Labels: c.Labels, Annotations: c.Annotations, Generation: 1,
			OwnerReferences: []metav1.OwnerReference{*fleet.OwnerReference(snd)},
		},
		Spec: *c.Spec.DeepCopy(),
	}
}

func TestTarget_LabelsOfTheOperatorWin(t *testing.T) {
	c := fleet.Target(rpcFleet(), platform.Default(), 2)
	want := map[string]string{
		"team": "infra", v1alpha1.LabelDeployment: "rpc", v1alpha1.LabelDeploymentOrdinal: "2",
		v1alpha1.LabelChain: "pacific-1", v1alpha1.LabelRole: v1alpha1.RoleNode,
	}
	if diff := cmp.Diff(want, c.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if c.Name != "rpc-2" || c.Annotations["note"] != "x" {
		t.Errorf("child %s with annotations %v, want rpc-2 with note x", c.Name, c.Annotations)
	}
}

func TestTarget_WithGenesis_IsAMemberAndFindsItsFleetAsPeers(t *testing.T) {
	snd := genesisFleet()
	snd.Spec.Template.Spec.Peers = []v1alpha1.PeerSource{{Static: &v1alpha1.StaticPeers{}}}
	c := fleet.Target(snd, platform.Default(), 1)
	want := &v1alpha1.GenesisCeremonyMember{ChainID: "demo", StakingAmount: "1usei", AccountBalance: "2usei", Index: 1}
	if diff := cmp.Diff(want, c.Spec.Validator.GenesisCeremony); diff != "" {
		t.Errorf("member (-want +got):\n%s", diff)
	}
	if len(c.Spec.Peers) != 2 || c.Spec.Peers[1].Label.Selector[v1alpha1.LabelDeployment] != "val" {
		t.Errorf("peers %+v, want those of the template and fleet val", c.Spec.Peers)
	}
	if len(snd.Spec.Template.Spec.Peers) != 1 || snd.Spec.Template.Spec.Validator.GenesisCeremony != nil {
		t.Error("the template was changed")
	}
}

func TestTarget_RetryOfTheFleet_ReachesItsNodes(t *testing.T) {
	snd := rpcFleet()
	snd.Annotations = map[string]string{v1alpha1.AnnotationRetry: "again"}
	c := fleet.Target(snd, platform.Default(), 0)
	if _, there := c.Annotations[v1alpha1.AnnotationRetry]; there || c.Annotations[v1alpha1.AnnotationFleetRetry] != "again" {
		t.Errorf("annotations %v, want %s: again, and no %s", c.Annotations, v1alpha1.AnnotationFleetRetry, v1alpha1.AnnotationRetry)
	}
	snd.Annotations = nil
	snd.Spec.Template.Metadata.Annotations = map[string]string{v1alpha1.AnnotationRetry: "of the template"}
	c = fleet.Target(snd, platform.Default(), 0)
	if _, there := c.Annotations[v1alpha1.AnnotationRetry]; there || c.Annotations[v1alpha1.AnnotationFleetRetry] != "of the template" {
		t.Errorf("annotations %v, want %s: of the template, and no %s", c.Annotations, v1alpha1.AnnotationFleetRetry, v1alpha1.AnnotationRetry)
	}
}

func TestSame_WhatTheFleetApplied_IsTheSame(t *testing.T) {
	for _, snd := range []*v1alpha1.SeiNodeDeployment{rpcFleet(), genesisFleet()} {
		live := liveOf(t, snd, 0)
		live.Labels["foreign"] = "stays"
		c, err := fleet.Target(snd, platform.Default(), 0).Stamped()
		if err != nil {
			t.Fatal(err)
		}
		if same, err := c.Same(live, snd); err != nil || !same {
			t.Errorf("%s: same %t, %v, want true", snd.Name, same, err)
		}
		live.Spec.ExternalAddress = "added:1"
		if same, _ := c.Same(live, snd); same {
			t.Errorf("%s: a field that somebody added was not noticed", snd.Name)
		}
		if edited, err := fleet.Edited(live); err != nil || !edited {
			t.Errorf("%s: edited %t, %v, want true", snd.Name, edited, err)
		}
	}
}

func TestHeld_KeepsRolledFieldsAndTakesLiveOnes(t *testing.T) {
	snd := rpcFleet()
	snd.Spec.Template.Metadata.Annotations[v1alpha1.AnnotationRestart] = "1"
	live := liveOf(t, snd, 0)

	size := resource.MustParse("2Ti")
	template := &snd.Spec.Template
	template.Metadata.Labels["team"] = "core"
	template.Metadata.Annotations[v1alpha1.AnnotationRestart] = "2"
	template.Spec.Image = "seid:b"
	template.Spec.Paused = true
	template.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: "sidecar:2", Port: 7777}
	template.Spec.Overrides = map[string]string{"evm.http_port": "1"}
	template.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Size: &size}
	template.Spec.Resources = &corev1.ResourceRequirements{}
	template.Spec.FullNode.SnapshotGeneration = &v1alpha1.SnapshotGeneration{Tendermint: &v1alpha1.TendermintSnapshotGeneration{KeepRecent: 2}}

	target := fleet.Target(snd, platform.Default(), 0)
	rolled, err := target.Rolled(live)
	if err != nil {
		t.Fatal(err)
	}
	wantRolled := []string{
		"fullNode.snapshotGeneration", "image", "overrides", "resources", "sidecar",
		"metadata.annotations[" + v1alpha1.AnnotationRestart + "]",
	}
	if diff := cmp.Diff(wantRolled, rolled); diff != "" {
		t.Errorf("rolled fields (-want +got):\n%s", diff)
	}
	held, err := target.Held(live)
	if err != nil {
		t.Fatal(err)
	}
	want := live.Spec.DeepCopy()
	want.Paused = true
	want.DataVolume = &v1alpha1.DataVolumeSpec{Size: &size}
	if diff := cmp.Diff(want, held.Spec); diff != "" {
		t.Errorf("held spec (-want +got):\n%s", diff)
	}
	if held.Labels["team"] != "core" || held.Annotations[v1alpha1.AnnotationRestart] != "1" {
		t.Errorf("held labels %v, annotations %v, want team core and %s 1", held.Labels, held.Annotations, v1alpha1.AnnotationRestart)
	}
	if target.Annotations[v1alpha1.AnnotationRestart] != "2" || target.Spec.Image != "seid:b" {
		t.Error("holding a node back changed the target")
	}
}

func TestTargetHash_ChangesWithWhatIsRolledOnly(t *testing.T) {
	hash := func(change func(*v1alpha1.SeiNodeDeployment)) string {
		snd := rpcFleet()
		change(snd)
		h, err := fleet.TargetHash(snd, platform.Default())
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	base := hash(func(*v1alpha1.SeiNodeDeployment) {})
	same := map[string]func(*v1alpha1.SeiNodeDeployment){
		"replicas": func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas = 9 },
		"labels":   func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Metadata.Labels["a"] = "b" },
		"paused":   func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Paused = true },
	}
	for name, change := range same {
		if hash(change) != base {
			t.Errorf("%s changes the target", name)
		}
	}
	other := map[string]func(*v1alpha1.SeiNodeDeployment){
		"image":     func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image = "seid:b" },
		"overrides": func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Overrides = map[string]string{"a.b": "c"} },
		"restart": func(s *v1alpha1.SeiNodeDeployment) {
			s.Spec.Template.Metadata.Annotations[v1alpha1.AnnotationRestart] = "1"
		},
	}
	for name, change := range other {
		if hash(change) == base {
			t.Errorf("%s does not change the target", name)
		}
	}
}

func TestMayAdopt_OnlyOursAndWhatIsLeftOfOurs(t *testing.T) {
	snd := rpcFleet()
	owned := func(ref ...metav1.OwnerReference) *v1alpha1.SeiNode {
		return &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "rpc-0", OwnerReferences: ref}}
	}
	retained := owned()
	retained.Labels = map[string]string{v1alpha1.LabelDeployment: "rpc"}
	foreign := *fleet.OwnerReference(snd)
	foreign.UID, foreign.Name = "other", "theirs"
	cases := map[string]struct {
		live *v1alpha1.SeiNode
		ok   bool
	}{
		"ours":            {owned(*fleet.OwnerReference(snd)), true},
		"retained":        {retained, true},
		"another fleet's": {owned(foreign), false},
		"nobody's":        {owned(), false},
	}
	for name, tc := range cases {
		if problem := fleet.MayAdopt(snd, "SeiNode", tc.live); (problem == "") != tc.ok {
			t.Errorf("%s: problem %q, may adopt it: want %t", name, problem, tc.ok)
		}
	}
}

func TestParseChildName_OnlyNamesWeGive(t *testing.T) {
	for name, want := range map[string]struct {
		fleet   string
		ordinal int
		ok      bool
	}{
		"rpc-0": {"rpc", 0, true}, "a-b-12": {"a-b", 12, true},
		"rpc": {}, "rpc-": {}, "rpc-01": {}, "-1": {}, "rpc--1": {"rpc-", 1, true}, "rpc-x": {}, "rpc-+1": {},
	} {
		f, o, ok := fleet.ParseChildName(name)
		if f != want.fleet || o != want.ordinal || ok != want.ok {
			t.Errorf("%s: fleet %q, ordinal %d, %t, want %q, %d, %t", name, f, o, ok, want.fleet, want.ordinal, want.ok)
		}
	}
}

func TestKeepingRestart_OfASingleNode_IsNotTakenAway(t *testing.T) {
	snd := rpcFleet()
	live := liveOf(t, snd, 0)
	live.Annotations[v1alpha1.AnnotationRestart] = "by hand"
	target := fleet.Target(snd, platform.Default(), 0)
	if rolled, err := target.Rolled(live); err != nil || len(rolled) > 0 {
		t.Errorf("rolled %v, %v, want nothing", rolled, err)
	}
	if kept := target.KeepingRestart(live); kept.Annotations[v1alpha1.AnnotationRestart] != "by hand" {
		t.Errorf("annotations %v, want %s: by hand", kept.Annotations, v1alpha1.AnnotationRestart)
	}
	snd.Spec.Template.Metadata.Annotations[v1alpha1.AnnotationRestart] = "all"
	if kept := fleet.Target(snd, platform.Default(), 0).KeepingRestart(live); kept.Annotations[v1alpha1.AnnotationRestart] != "all" {
		t.Errorf("annotations %v, want %s: all", kept.Annotations, v1alpha1.AnnotationRestart)
	}
}
