package fleet_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

func ownedFleet(policy v1alpha1.VolumeDeletionPolicy) *v1alpha1.SeiNodeDeployment {
	snd := rpcFleet()
	snd.UID, snd.Spec.DeletionPolicy = "ours", policy
	return snd
}

func ownedBy(uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{Kind: "SeiNodeDeployment", Name: "x", UID: uid, Controller: new(true)}}
}

// An object is the fleet's by its controller, and without one only if it says so itself: what
// --cascade=orphan has released says nothing. (V2)
func TestV2_Owns_ByControllerOrByItsOwnWord(t *testing.T) {
	snd := ownedFleet(v1alpha1.VolumeRetain)
	noted := map[string]string{v1alpha1.AnnotationDeploymentUID: "ours"}
	labelled := map[string]string{v1alpha1.LabelDeployment: snd.Name}
	for name, tc := range map[string]struct {
		object metav1.ObjectMeta
		owns   bool
		adopts bool
	}{
		"controlled":                    {metav1.ObjectMeta{OwnerReferences: ownedBy("ours")}, true, true},
		"noted":                         {metav1.ObjectMeta{Annotations: noted}, true, true},
		"noted, but another's":          {metav1.ObjectMeta{Annotations: noted, Labels: labelled, OwnerReferences: ownedBy("theirs")}, false, false},
		"orphaned":                      {metav1.ObjectMeta{Labels: labelled}, false, true},
		"of an earlier fleet":           {metav1.ObjectMeta{Labels: labelled, Annotations: map[string]string{v1alpha1.AnnotationDeploymentUID: "earlier"}}, false, true},
		"nobody's":                      {metav1.ObjectMeta{}, false, false},
		"owned, but not controlled, by": {metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "ours"}}}, false, false},
	} {
		node := &v1alpha1.SeiNode{ObjectMeta: tc.object}
		if got := fleet.Owns(snd, node); got != tc.owns {
			t.Errorf("%s: owned %t", name, got)
		}
		if problem := fleet.MayAdopt(snd, "SeiNode", node); (problem == "") != tc.adopts {
			t.Errorf("%s: %q, want it empty: %t", name, problem, tc.adopts)
		}
	}
}

// What a Retain fleet has made carries nothing that the garbage collector could act on. (V2)
func TestV2_Retain_NothingHasAnOwnerReference(t *testing.T) {
	for _, policy := range []v1alpha1.VolumeDeletionPolicy{v1alpha1.VolumeRetain, v1alpha1.VolumeDelete, ""} {
		snd, keeps := ownedFleet(policy), policy == v1alpha1.VolumeRetain
		snd.Spec.Networking = &v1alpha1.NetworkingSpec{HTTP: &v1alpha1.HTTPNetworking{}, TCP: &v1alpha1.TCPNetworking{}}
		snd.Spec.Genesis = &v1alpha1.GenesisCeremony{ChainID: "demo"}
		cfg := platform.Default()
		cfg.Gateway.Name, cfg.Gateway.Domain = "gw", "example.com"
		check := func(name string, owners int, annotations map[string]string) {
			if (owners == 0) != keeps || (annotations[v1alpha1.AnnotationDeploymentUID] == "ours") != keeps {
				t.Errorf("%s: %s has %d owners and annotations %v", policy, name, owners, annotations)
			}
		}
		child, err := fleet.Target(snd, cfg, 0).Object(snd)
		if err != nil {
			t.Fatal(err)
		}
		check("SeiNode", len(child.GetOwnerReferences()), child.GetAnnotations())
		for _, s := range fleet.Services(snd, cfg, []int{0}) {
			check("Service "+*s.Name, len(s.OwnerReferences), s.Annotations)
		}
		for _, r := range fleet.Routes(snd, cfg) {
			check("HTTPRoute "+*r.Name, len(r.OwnerReferences), r.Annotations)
		}
		budget := fleet.DisruptionBudget(snd)
		check("PodDisruptionBudget", len(budget.OwnerReferences), budget.Annotations)
		genesis := fleet.GenesisConfigMap(snd, nil, fleet.GenesisFile{})
		check("ConfigMap", len(genesis.OwnerReferences), genesis.Annotations)
	}
}

// A change of the policy, and an upgrade from an operator that bound everything, reach the nodes
// that are there. (V2)
func TestV2_WithOwner_FollowsThePolicy(t *testing.T) {
	other := metav1.OwnerReference{Kind: "ConfigMap", Name: "theirs", UID: "other"}
	noted := map[string]string{v1alpha1.AnnotationDeploymentUID: "ours", "note": "x"}
	for name, tc := range map[string]struct {
		policy  v1alpha1.VolumeDeletionPolicy
		object  metav1.ObjectMeta
		changes bool
		bound   bool
	}{
		"Retain, still bound":      {v1alpha1.VolumeRetain, metav1.ObjectMeta{OwnerReferences: append(ownedBy("ours"), other)}, true, false},
		"Retain, let go":           {v1alpha1.VolumeRetain, metav1.ObjectMeta{Annotations: noted, OwnerReferences: []metav1.OwnerReference{other}}, false, false},
		"Delete, not bound yet":    {v1alpha1.VolumeDelete, metav1.ObjectMeta{Annotations: noted, OwnerReferences: []metav1.OwnerReference{other}}, true, true},
		"Delete, bound":            {v1alpha1.VolumeDelete, metav1.ObjectMeta{OwnerReferences: append(ownedBy("ours"), other)}, false, true},
		"Delete, nobody's":         {v1alpha1.VolumeDelete, metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{other}}, false, false},
		"Retain, of another fleet": {v1alpha1.VolumeRetain, metav1.ObjectMeta{OwnerReferences: append(ownedBy("theirs"), other)}, false, false},
	} {
		snd := ownedFleet(tc.policy)
		before := &v1alpha1.SeiNode{ObjectMeta: *tc.object.DeepCopy()}
		got, changed := fleet.WithOwner(snd, before)
		if changed != tc.changes || fleet.Bound(snd, got) != tc.bound {
			t.Errorf("%s: changed %t, owners %v", name, changed, got.OwnerReferences)
		}
		if changed && !fleet.Owns(snd, got) {
			t.Errorf("%s: it is no longer the fleet's: %v", name, got.ObjectMeta)
		}
		if !strings.Contains(got.OwnerReferences[0].Name+got.OwnerReferences[len(got.OwnerReferences)-1].Name, "theirs") {
			t.Errorf("%s: another owner went: %v", name, got.OwnerReferences)
		}
	}
}

// A note is left where the volume of a node that was scaled down has another fate than that of one
// that was deleted, and once.
func TestScaledDown_NotedWhereItMakesADifference(t *testing.T) {
	const keep, del = v1alpha1.VolumeRetain, v1alpha1.VolumeDelete
	for name, c := range map[string]struct {
		retention v1alpha1.VolumeRetention
		noted     string
		want      bool
	}{
		"kept when scaled":    {v1alpha1.VolumeRetention{WhenDeleted: del, WhenScaled: keep}, "", true},
		"deleted when scaled": {v1alpha1.VolumeRetention{WhenDeleted: keep, WhenScaled: del}, "", true},
		"noted before":        {v1alpha1.VolumeRetention{WhenDeleted: keep, WhenScaled: del}, "true", false},
		"deleted either way":  {v1alpha1.VolumeRetention{WhenDeleted: del, WhenScaled: del}, "", false},
		"kept either way":     {v1alpha1.VolumeRetention{WhenDeleted: keep, WhenScaled: keep}, "", false},
	} {
		live := &v1alpha1.SeiNode{Spec: v1alpha1.SeiNodeSpec{DataVolume: &v1alpha1.DataVolumeSpec{Retention: &c.retention}}}
		if c.noted != "" {
			live.Annotations = map[string]string{v1alpha1.AnnotationScaledDown: c.noted}
		}
		node, changed := fleet.ScaledDown(live)
		if changed != c.want || c.want && (node.Annotations[v1alpha1.AnnotationScaledDown] == "" || live.Annotations != nil) {
			t.Errorf("%s: changed %t, annotations %v, of the original %v", name, changed, node.Annotations, live.Annotations)
		}
	}
}

// The note goes from a node that stays, and from no other.
func TestStaying_ForgetsTheNote(t *testing.T) {
	snd := rpcFleet()
	noted := func(change func(*v1alpha1.SeiNode)) *v1alpha1.SeiNode {
		node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{
			Annotations: map[string]string{v1alpha1.AnnotationScaledDown: "true"}, OwnerReferences: []metav1.OwnerReference{*fleet.OwnerReference(snd)},
		}}
		change(node)
		return node
	}
	for name, c := range map[string]struct {
		node *v1alpha1.SeiNode
		want bool
	}{
		"noted":           {noted(func(*v1alpha1.SeiNode) {}), true},
		"not noted":       {noted(func(n *v1alpha1.SeiNode) { n.Annotations = nil }), false},
		"about to go":     {noted(func(n *v1alpha1.SeiNode) { n.DeletionTimestamp = new(metav1.Now()) }), false},
		"somebody else's": {noted(func(n *v1alpha1.SeiNode) { n.OwnerReferences = nil }), false},
	} {
		before := len(c.node.Annotations)
		node, changed := fleet.Staying(snd, c.node)
		if changed != c.want || c.want && len(node.Annotations) != 0 || len(c.node.Annotations) != before {
			t.Errorf("%s: changed %t, annotations %v", name, changed, node.Annotations)
		}
	}
}
