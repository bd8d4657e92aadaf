package fleet

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// Child is a node as the fleet wants it.
type Child struct {
	Name        string
	Ordinal     int
	Labels      map[string]string
	Annotations map[string]string
	Spec        *v1alpha1.SeiNodeSpec
	// Awaits is what has to be there before the node is made; empty when it can be.
	Awaits string
}

// Target is the node with the given ordinal as the fleet's template asks for it.
func Target(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, ordinal int) Child {
	template := &snd.Spec.Template
	c := Child{
		Name: ChildName(snd.Name, ordinal), Ordinal: ordinal,
		Labels: map[string]string{}, Annotations: map[string]string{},
		Spec: template.Spec.DeepCopy(),
	}
	maps.Copy(c.Labels, template.Metadata.Labels)
	maps.Copy(c.Labels, map[string]string{
		v1alpha1.LabelDeployment:        snd.Name,
		v1alpha1.LabelDeploymentOrdinal: strconv.Itoa(ordinal),
		v1alpha1.LabelChain:             c.Spec.ChainID,
		v1alpha1.LabelRole:              c.Spec.Role(),
	})
	maps.Copy(c.Annotations, template.Metadata.Annotations)
	maps.Copy(c.Annotations, ownerAnnotations(snd))
	passRetry(snd, &c)
	fillOrdinal(c.Spec, ordinal)
	publishP2P(snd, cfg, &c)
	applySettings(c.Spec, settingsOf(snd, ordinal))
	takePart(snd, &c)
	return c
}

// passRetry gives a node the retry of its fleet, under a key of its own: what somebody says about the
// fleet is not said about a single validator whose signing state is lost.
func passRetry(snd *v1alpha1.SeiNodeDeployment, c *Child) {
	retry := cmp.Or(snd.Annotations[v1alpha1.AnnotationRetry], c.Annotations[v1alpha1.AnnotationRetry])
	delete(c.Annotations, v1alpha1.AnnotationRetry)
	if retry != "" {
		c.Annotations[v1alpha1.AnnotationFleetRetry] = retry
	}
}

// takePart makes a node a member of the fleet's genesis ceremony. Its peers are the
// fleet's other nodes, found by label, so nobody has to write their ids down.
func takePart(snd *v1alpha1.SeiNodeDeployment, c *Child) {
	genesis := snd.Spec.Genesis
	if genesis == nil || c.Spec.Validator == nil {
		return
	}
	c.Spec.Validator.GenesisCeremony = &v1alpha1.GenesisCeremonyMember{
		ChainID: genesis.ChainID, StakingAmount: genesis.StakingAmount,
		AccountBalance: genesis.AccountBalance, Index: int32(c.Ordinal),
	}
	own := v1alpha1.PeerSource{Label: &v1alpha1.LabelPeers{Selector: selectorLabels(snd.Name)}}
	c.Spec.Peers = append(slices.Clone(c.Spec.Peers), own)
}

// TargetHash identifies what a rollout leads to: all of a template that reaches nodes
// by one, and all settings of single nodes that do. Live fields are no part of it.
func TargetHash(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) (string, error) {
	template := snd.DeepCopy()
	template.Spec.Nodes = nil
	target := Target(template, cfg, 0)
	t, err := treeOf(target.Spec)
	if err != nil {
		return "", err
	}
	rolled := map[string]any{rolledAnnotation: target.Annotations[rolledAnnotation]}
	for path, class := range Fields {
		if class != Live {
			rolled[path] = t.get(path)
		}
	}
	for _, s := range rolledSettings(snd) {
		rolled[fmt.Sprintf("nodes[%d]", s.Ordinal)] = s
	}
	return hashOf(rolled)
}

// Rolled lists the fields in which a live node differs from what is wanted and that
// may only change when a rollout lets the node move.
func (c Child) Rolled(live *v1alpha1.SeiNode) ([]string, error) {
	want, err := treeOf(c.Spec)
	if err != nil {
		return nil, err
	}
	have, err := treeOf(&live.Spec)
	if err != nil {
		return nil, err
	}
	found := want.differences(have)
	switch {
	case c.changesImage(live) && !slices.Contains(found, pathImage):
		found = append(found, pathUpgrades)
	case !c.changesImage(live):
		found = slices.DeleteFunc(found, func(path string) bool { return path == pathImage })
	}
	if c.waitsForEarly(live) {
		found = append(found, "metadata.annotations["+v1alpha1.AnnotationMinorUpgrade+"]")
	}
	if c.Annotations[rolledAnnotation] != live.Annotations[rolledAnnotation] && c.Annotations[rolledAnnotation] != "" {
		found = append(found, "metadata.annotations["+rolledAnnotation+"]")
	}
	return found, nil
}

// Held is the node as it is applied while it may not move: live fields are the
// template's, all others stay what they are. Of the upgrades it gets the entries that are new and do
// not change what it runs: the chain does not wait for a rollout.
func (c Child) Held(live *v1alpha1.SeiNode) (Child, error) {
	want, err := treeOf(c.Spec)
	if err != nil {
		return c, err
	}
	have, err := treeOf(&live.Spec)
	if err != nil {
		return c, err
	}
	for _, path := range rolledPaths {
		if path != pathImage {
			want.put(path, have.get(path))
		}
	}
	upgrades := c.Spec.Upgrades
	if c.changesImage(live) {
		want.put(pathImage, have.get(pathImage))
		upgrades = withNewEntries(live, upgrades)
	}
	if c.Spec, err = want.spec(); err != nil {
		return c, err
	}
	c.Spec.Upgrades = upgrades
	c.Annotations = maps.Clone(c.Annotations)
	delete(c.Annotations, rolledAnnotation)
	if value, there := live.Annotations[rolledAnnotation]; there {
		c.Annotations[rolledAnnotation] = value
	}
	// A permission is given in turn, and withdrawn at once: a plan of the same name that comes later
	// would find it, and take the node down whatever else is down then.
	if c.Annotations[v1alpha1.AnnotationMinorUpgrade] != live.Annotations[v1alpha1.AnnotationMinorUpgrade] {
		delete(c.Annotations, v1alpha1.AnnotationMinorUpgrade)
	}
	return c, nil
}

// Retrying is the node with a request to start over, if it failed and a new ceremony
// waits for it: the ceremony's retry is the node's too.
func (c Child) Retrying(live *v1alpha1.SeiNode, active *v1alpha1.TaskPlan) Child {
	if active == nil || active.Phase != v1alpha1.PlanActive || live.Status.Phase != v1alpha1.NodeFailed {
		return c
	}
	c.Annotations = maps.Clone(c.Annotations)
	c.Annotations[v1alpha1.AnnotationFleetRetry] = active.ID
	return c
}

// KeepingRestart is the node with the restart it was asked for, when the template asks
// for none: somebody may restart a single node, and taking the annotation away would
// restart it once more.
func (c Child) KeepingRestart(live *v1alpha1.SeiNode) Child {
	value, there := live.Annotations[rolledAnnotation]
	if _, ours := c.Annotations[rolledAnnotation]; ours || !there {
		return c
	}
	c.Annotations = maps.Clone(c.Annotations)
	c.Annotations[rolledAnnotation] = value
	return c
}

// SpecHash identifies a node's whole spec.
func SpecHash(spec *v1alpha1.SeiNodeSpec) (string, error) { return hashOf(spec) }

// SameSpec reports whether a live node has exactly the spec that is wanted. Both came
// through the same defaulting, so there is nothing else to expect.
func (c Child) SameSpec(live *v1alpha1.SeiNodeSpec) (bool, error) {
	want, err := json.Marshal(c.Spec)
	if err != nil {
		return false, fmt.Errorf("encoding a spec: %w", err)
	}
	have, err := json.Marshal(live)
	if err != nil {
		return false, fmt.Errorf("encoding a spec: %w", err)
	}
	return bytes.Equal(want, have), nil
}

// Same reports whether a live node is as wanted. Labels and annotations of others do
// not matter.
func (c Child) Same(live *v1alpha1.SeiNode, owner *v1alpha1.SeiNodeDeployment) (bool, error) {
	if !ownedAsWanted(owner, live) || !holds(live.Labels, c.Labels) || !holds(live.Annotations, c.Annotations) {
		return false, nil
	}
	return c.SameSpec(&live.Spec)
}

func holds(have, want map[string]string) bool {
	for key, value := range want {
		if got, there := have[key]; !there || got != value {
			return false
		}
	}
	return true
}

// Object is the node as it is applied, whole.
func (c Child) Object(owner *v1alpha1.SeiNodeDeployment) (*unstructured.Unstructured, error) {
	spec, err := treeOf(c.Spec)
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNode))
	obj.SetNamespace(owner.Namespace)
	obj.SetName(c.Name)
	obj.SetLabels(c.Labels)
	obj.SetAnnotations(c.Annotations)
	if !Retains(owner) {
		obj.SetOwnerReferences([]metav1.OwnerReference{*OwnerReference(owner)})
	}
	obj.Object["spec"] = map[string]any(spec)
	return obj, nil
}

// Stamped is the node with a note on it of what is applied: the hashes of its spec and
// of its metadata. Without the second, a label that left the template could not be told
// from one that somebody else has set.
func (c Child) Stamped() (Child, error) {
	spec, err := SpecHash(c.Spec)
	if err != nil {
		return c, err
	}
	metadata, err := hashOf([]map[string]string{c.Labels, c.Annotations})
	if err != nil {
		return c, err
	}
	c.Annotations = maps.Clone(c.Annotations)
	c.Annotations[v1alpha1.AnnotationApplied] = spec + "." + metadata
	return c, nil
}

// Edited reports whether somebody changed a node's spec since the fleet applied it.
func Edited(live *v1alpha1.SeiNode) (bool, error) {
	applied, _, noted := strings.Cut(live.Annotations[v1alpha1.AnnotationApplied], ".")
	if !noted {
		return false, nil
	}
	hash, err := SpecHash(&live.Spec)
	return hash != applied, err
}

// OwnerReference makes an object the fleet's.
func OwnerReference(snd *v1alpha1.SeiNodeDeployment) *metav1.OwnerReference {
	return metav1.NewControllerRef(snd, v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNodeDeployment))
}
