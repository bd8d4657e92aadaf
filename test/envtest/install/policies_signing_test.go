package install_test

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/test/envtest"
)

const refusedToSign = "needs the verb sign on seinodetasks"

// vote is a task that signs.
func vote(target v1alpha1.TaskTarget) *v1alpha1.SeiNodeTask {
	return &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: "vote"}, Spec: v1alpha1.SeiNodeTaskSpec{
		Kind: v1alpha1.TaskKindGovVote, Target: target,
		GovVote: &v1alpha1.GovVote{GovTx: v1alpha1.GovTx{ChainID: "pacific-1", KeyName: "admin", Fees: "1usei", Gas: 1}, ProposalID: 1, Option: "yes"},
	}}
}

func onNode(name string) v1alpha1.TaskTarget {
	return v1alpha1.TaskTarget{NodeRef: v1alpha1.NodeRef{Name: name}}
}

func onFleet(name string) v1alpha1.TaskTarget {
	return v1alpha1.TaskTarget{FleetRef: v1alpha1.FleetRef{Name: name}}
}

func TestPolicies_TasksThatSign_TakeAVerbOfTheirOwn(t *testing.T) {
	w := newTenant(t)
	restart := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: "restart"}, Spec: v1alpha1.SeiNodeTaskSpec{
		Kind: v1alpha1.TaskKindRestartSeid, Target: onNode("val"), RestartSeid: &v1alpha1.RestartSeid{},
	}}
	w.becomes("dev "+refusedToSign, w.dryRun(vote(onNode("val"))))
	if err := w.dryRun(restart)(t.Context()); err != nil {
		t.Errorf("a task that signs nothing: %v", err)
	}
	w.grant("sei-operator-signer")
	w.becomes("", w.dryRun(vote(onNode("val"))))
}

// Whoever makes the task of the fleet is asked. The operator, which makes those of its nodes, has the right by its role.
func TestPolicies_VoteOfAFleet_TheOperatorMakesTheTasksOfItsNodes(t *testing.T) {
	w := newTenant(t)
	op := startOperator(t, w.env)
	w.becomes("dev "+refusedToSign, w.dryRun(vote(onFleet("vals"))))

	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "vals"}}
	fleet.Spec.Replicas, fleet.Spec.Template.Spec = 1, validatorNode("", nil).Spec
	if err := w.Create(t.Context(), fleet); err != nil {
		t.Fatal(err)
	}
	w.grant("sei-operator-signer")
	w.becomes("", w.dryRun(vote(onFleet("vals"))))
	parent := vote(onFleet("vals"))
	if err := w.Create(t.Context(), parent); err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, r := range op.recorder.All().In(w.namespace).Answered(http.StatusForbidden) {
			t.Errorf("the operator was refused: %s", r)
		}
	}()
	envtest.WaitFor(t, w.env, w.namespace, operation.ChildName(parent, "vals-0"), func(child *v1alpha1.SeiNodeTask) bool { return child != nil })
	if err := op.stop(); err != nil {
		t.Errorf("the operator ended with %v", err)
	}
}

// That the operator may is a right of its role. What its tasks look like and what its account is called
// can be had by others.
func TestPolicies_TasksThatSign_NobodyPassesForTheOperator(t *testing.T) {
	w := newTenant(t)
	parent := vote(onFleet("vals"))
	parent.Namespace, parent.UID = w.namespace, "00000000-0000-0000-0000-000000000000"
	child := operation.Child(parent, "vals-0")
	w.becomes("dev "+refusedToSign, w.dryRun(child))

	newAccount(t, w.env, w.namespace, account, "sei-operator-edit")
	namesake, err := client.New(asAccount(w.env, token(t, w.env, w.namespace, account)), client.Options{Scheme: w.env.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	w.Client = client.NewNamespacedClient(namesake, w.namespace)
	for what, task := range map[string]*v1alpha1.SeiNodeTask{
		"of a fleet": vote(onFleet("vals")), "of a node": vote(onNode("val")), "like the operator's": child,
	} {
		t.Run(what, func(*testing.T) {
			w.becomes("system:serviceaccount:"+w.namespace+":"+account+" "+refusedToSign, w.dryRun(task))
		})
	}
}
