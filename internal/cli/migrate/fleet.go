package migrate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/cli/lint"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// fleetOf says what would happen to a fleet, and in what its nodes are not as its template asks for.
func fleetOf(in *Inventory, linter *lint.Linter, obj *unstructured.Unstructured) ([]Finding, error) {
	var snd v1alpha1.SeiNodeDeployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &snd); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name(obj), err)
	}
	found := append(fields(linter, obj), sidecarImage(name(obj), "spec.template.spec.sidecar.image", &snd.Spec.Template.Spec)...)
	found = append(found, fleetStatus(name(obj), &snd)...)
	for ordinal := range int(snd.Spec.Replicas) {
		member, err := member(in, &snd, name(obj), ordinal)
		if err != nil {
			return nil, err
		}
		found = append(found, member...)
	}
	return found, nil
}

func fleetStatus(object string, snd *v1alpha1.SeiNodeDeployment) []Finding {
	taken := snd.DeepCopy()
	fleet.TakeOver(taken)
	switch {
	case snd.Status.Plan != nil || snd.Status.Rollout != nil:
		return []Finding{{object, Change, fmt.Sprintf("the public operator has not finished with it (phase %q): "+
			"wait until status.plan and status.rollout are gone", snd.Status.Phase)}}
	case snd.Spec.Genesis != nil && !fleet.ChainBegun(taken):
		return []Finding{{object, Change, "its chain has no genesis yet: wait until the public operator sets the condition " +
			v1alpha1.ConditionGenesisCeremonyComplete + ", or recreate the fleet afterwards"}}
	}
	found := []Finding{{object, Adopt, "its nodes, Services and routes are taken over without a rollout"}}
	if snd.Spec.Genesis != nil {
		found = append(found, Finding{object, Create, "ConfigMap " + fleet.GenesisName(snd.Name) +
			": the genesis of the chain, as the validators have it. No ceremony is run again"})
	}
	if snd.Spec.Replicas > 1 && snd.Spec.Template.Spec.Signs() {
		found = append(found, Finding{object, Restart, fmt.Sprintf("the pods of its %d validators are replaced at about the same time: "+
			"a chain that has no others halts until they run again", snd.Spec.Replicas)})
	}
	return found
}

// member says in what one node of a fleet is not as it is wanted.
func member(in *Inventory, snd *v1alpha1.SeiNodeDeployment, object string, ordinal int) ([]Finding, error) {
	target := fleet.Target(snd, in.Platform, ordinal)
	i := slices.IndexFunc(in.Nodes, func(n unstructured.Unstructured) bool {
		return n.GetNamespace() == snd.Namespace && n.GetName() == target.Name
	})
	if i < 0 {
		return []Finding{{object, Create, "SeiNode " + target.Name + ": there is none"}}, nil
	}
	var live v1alpha1.SeiNode
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(in.Nodes[i].Object, &live); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name(&in.Nodes[i]), err)
	}
	if problem := fleet.MayAdopt(snd, v1alpha1.KindSeiNode, &live); problem != "" {
		return []Finding{{object, Change, problem}}, nil
	}
	rolled, err := target.KeepingLabels(&live).Rolled(&live)
	if err != nil {
		return nil, err
	}
	if snd.Spec.Genesis != nil { // which the public operator has written into each node
		rolled = slices.DeleteFunc(rolled, func(field string) bool { return field == "peers" })
	}
	if len(rolled) == 0 {
		return nil, nil
	}
	detail := live.Name + " differs from the template in " + strings.Join(rolled, ", ") +
		": a rollout brings it to the template. To keep what the node has, change the template between the two operators"
	if slices.Contains(rolled, "podLabels") && len(snd.Spec.Template.Metadata.Labels) > 0 {
		detail += ". Labels in template.metadata.labels do not reach pods here: put those that pods need into template.spec.podLabels, too"
	}
	return []Finding{{object, Review, detail}}, nil
}
