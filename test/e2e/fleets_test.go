package e2e

import (
	"context"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

const keyHaltHeight = "chain.halt_height"

// founders are validators that found the scenario's chain and halt soon after.
func (s *scenario) founders() *v1alpha1.SeiNodeDeployment {
	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
	fleet.Spec.Replicas = validators
	fleet.Spec.Genesis = &v1alpha1.GenesisCeremony{ChainID: s.chain.id}
	fleet.Spec.Template.Spec = v1alpha1.SeiNodeSpec{
		ChainID: s.chain.id, Image: imageSeid, Validator: &v1alpha1.ValidatorSpec{},
		Overrides: map[string]string{
			"consensus.unsafe_commit_timeout_override": "1s",
			keyHaltHeight: strconv.Itoa(haltHeight),
		},
	}
	return fleet
}

// servers are full nodes that follow the scenario's chain.
func (s *scenario) servers() *v1alpha1.SeiNodeDeployment {
	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}}
	fleet.Spec.Replicas = servers
	fleet.Spec.Template.Spec = s.fullNode("").Spec
	return fleet
}

// fleet is the fleet as it is now.
func (s *scenario) fleet(name string) *v1alpha1.SeiNodeDeployment {
	s.t.Helper()
	fleet := &v1alpha1.SeiNodeDeployment{}
	s.mustGet(name, fleet)
	return fleet
}

// editFleet changes a fleet as kubectl edit does.
func (s *scenario) editFleet(name string, change func(*v1alpha1.SeiNodeDeployment)) {
	s.t.Helper()
	fleet := s.fleet(name)
	before := fleet.DeepCopy()
	change(fleet)
	if err := s.Patch(s.t.Context(), fleet, client.MergeFrom(before)); err != nil {
		s.t.Fatalf("changing fleet %s: %v", name, err)
	}
}

func (s *scenario) awaitFleet(name, condition string, status metav1.ConditionStatus) {
	s.t.Helper()
	await(s.t, inSyncTimeout, fmt.Sprintf("%s of %s to be %s", condition, name, status), func(context.Context) (bool, string, error) {
		fleet := &v1alpha1.SeiNodeDeployment{}
		err := s.get(name, fleet)
		c := conditions.Get(fleet.Status.Conditions, condition)
		return c != nil && c.Status == status && fleet.Status.ObservedGeneration == fleet.Generation, describeFleet(fleet), err
	})
}

// awaitAllEnded waits until a container of every node has ended by itself and no node is ready. They are not away for
// long: the kubelet starts them again.
func (s *scenario) awaitAllEnded(names []string, container string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, "all to be away at once", func(context.Context) (bool, string, error) {
		seen := ""
		all := true
		for _, name := range names {
			node := &v1alpha1.SeiNode{}
			if err := s.get(name, node); err != nil {
				return false, "", err
			}
			away := conditions.Is(node.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionFalse, "")
			all = all && away && hasEnded(s.pod(name), container)
			seen += name + ": " + describe(node) + "\n"
		}
		return all, seen, nil
	})
}

// awaitRolled waits until the whole fleet runs an image. No look on the way may find fewer nodes ready than atLeast.
func (s *scenario) awaitRolled(name, image string, atLeast int32) {
	s.t.Helper()
	await(s.t, inSyncTimeout, fmt.Sprintf("%s to run %s", name, image), func(context.Context) (bool, string, error) {
		fleet := &v1alpha1.SeiNodeDeployment{}
		err := s.get(name, fleet)
		if err == nil && fleet.Status.ReadyReplicas < atLeast {
			s.t.Errorf("%d of %d nodes are ready during the rollout", fleet.Status.ReadyReplicas, fleet.Spec.Replicas)
		}
		c := conditions.Get(fleet.Status.Conditions, v1alpha1.ConditionRolloutInProgress)
		done := c != nil && c.Status == metav1.ConditionFalse && fleet.Status.ObservedGeneration == fleet.Generation
		return done && fleet.Status.UpdatedReplicas == fleet.Spec.Replicas, describeFleet(fleet), err
	})
	nodes := &v1alpha1.SeiNodeList{}
	if err := s.List(s.t.Context(), nodes, client.InNamespace(s.namespace), client.MatchingLabels{v1alpha1.LabelDeployment: name}); err != nil {
		s.t.Fatal(err)
	}
	for i := range nodes.Items {
		if got := nodes.Items[i].Status.CurrentImage; got != image {
			s.t.Errorf("%s runs %s, want %s", nodes.Items[i].Name, got, image)
		}
		s.awaitInSync(nodes.Items[i].Name)
	}
}

func describeFleet(fleet *v1alpha1.SeiNodeDeployment) string {
	text := fmt.Sprintf("phase %s, %d ready, %d updated", fleet.Status.Phase, fleet.Status.ReadyReplicas, fleet.Status.UpdatedReplicas)
	for _, c := range fleet.Status.Conditions {
		text += fmt.Sprintf("; %s %s %s (%s)", c.Type, c.Status, c.Reason, c.Message)
	}
	return text
}
