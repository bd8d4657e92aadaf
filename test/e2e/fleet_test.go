package e2e

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// Four validators found a chain together, a full node that was applied with them waits for the genesis and follows, and
// a rollout moves the validators one by one while the chain goes on.
func TestFleet_FoundsAChain_AndIsRolledWhileItLives(t *testing.T) {
	s := begin(t, "fleet")
	const id = "fleet-1"
	s.chain.id = id
	s.peers = v1alpha1.LabelPeers{Selector: map[string]string{v1alpha1.LabelDeployment: "v"}}
	s.create(s.fullNode("full"))
	s.create(founders(id))
	s.awaitFleet("v", v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
	s.awaitInSync("full")
	s.awaitHeight("full", 5)

	fleet := &v1alpha1.SeiNodeDeployment{}
	s.mustGet("v", fleet)
	before := fleet.DeepCopy()
	fleet.Spec.Template.Spec.Image = imageNext
	if err := s.Patch(t.Context(), fleet, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	s.awaitRolled("v", imageNext)
	for ordinal := range 4 {
		s.awaitInSync(fmt.Sprintf("v-%d", ordinal))
	}
	// All peers of the full node have new addresses; it finds them again, and the chain was never away.
	height := s.height("v-0")
	s.awaitHeight("full", height+2)
}

func founders(id string) *v1alpha1.SeiNodeDeployment {
	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
	fleet.Spec.Replicas = 4
	fleet.Spec.Genesis = &v1alpha1.GenesisCeremony{ChainID: id}
	fleet.Spec.Template.Spec = v1alpha1.SeiNodeSpec{
		ChainID: id, Image: imageSeid, Validator: &v1alpha1.ValidatorSpec{},
		Overrides: map[string]string{"consensus.unsafe_commit_timeout_override": "1s"},
	}
	return fleet
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

// awaitRolled waits until the whole fleet runs an image. Not more than one validator may be away at a time: two of four
// would stop the chain.
func (s *scenario) awaitRolled(name, image string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, fmt.Sprintf("%s to run %s", name, image), func(context.Context) (bool, string, error) {
		fleet := &v1alpha1.SeiNodeDeployment{}
		err := s.get(name, fleet)
		if err == nil && fleet.Status.ReadyReplicas < 3 {
			s.t.Errorf("%d of 4 validators are ready during the rollout", fleet.Status.ReadyReplicas)
		}
		c := conditions.Get(fleet.Status.Conditions, v1alpha1.ConditionRolloutInProgress)
		done := c != nil && c.Status == metav1.ConditionFalse && fleet.Status.ObservedGeneration == fleet.Generation
		return done && fleet.Status.UpdatedReplicas == 4, describeFleet(fleet), err
	})
	nodes := &v1alpha1.SeiNodeList{}
	if err := s.List(s.t.Context(), nodes, client.InNamespace(s.namespace), client.MatchingLabels{v1alpha1.LabelDeployment: name}); err != nil {
		s.t.Fatal(err)
	}
	for i := range nodes.Items {
		if got := nodes.Items[i].Status.CurrentImage; got != image {
			s.t.Errorf("%s runs %s, want %s", nodes.Items[i].Name, got, image)
		}
	}
}

func describeFleet(fleet *v1alpha1.SeiNodeDeployment) string {
	text := fmt.Sprintf("phase %s, %d ready, %d updated", fleet.Status.Phase, fleet.Status.ReadyReplicas, fleet.Status.UpdatedReplicas)
	for _, c := range fleet.Status.Conditions {
		text += fmt.Sprintf("; %s %s %s (%s)", c.Type, c.Status, c.Reason, c.Message)
	}
	return text
}
