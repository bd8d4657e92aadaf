package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

const (
	keyMinGasPrices = "chain.min_gas_prices"
	// refusedGasPrice is no price to seid: it has no denomination.
	refusedGasPrice = "0.01"
)

// stopAtTheFirst gives the validators a configuration that seid refuses (F1). The first to get it keeps running on its last good
// one and fails the rollout, the others never get it, and reverting the change is all it needs.
func (s *scenario) stopAtTheFirst() {
	began := time.Now()
	s.overrideFleet("v", keyMinGasPrices, refusedGasPrice)
	s.awaitFleet("v", v1alpha1.ConditionRolloutFailed, metav1.ConditionTrue)
	theReport.figuref(s.t, "from a refused configuration to RolloutFailed", "%.1f s", time.Since(began).Seconds())
	failed := conditions.Get(s.fleet("v").Status.Conditions, v1alpha1.ConditionRolloutFailed)
	if !strings.Contains(failed.Message, "v-") || !strings.Contains(failed.Message, keyMinGasPrices) {
		s.t.Errorf("RolloutFailed names neither node nor field: %s", failed.Message)
	}
	s.t.Log(failed.Message)
	s.awaitHeight("rpc-0", s.height("rpc-0")+5)
	if got := s.withOverride("v", keyMinGasPrices); len(got) != 1 {
		s.t.Errorf("%d nodes got the configuration that the first refused: %v", len(got), got)
	}
	if ready := s.fleet("v").Status.ReadyReplicas; ready != validators {
		s.t.Errorf("%d of %d validators are in sync", ready, validators)
	}

	began = time.Now()
	s.overrideFleet("v", keyMinGasPrices, "")
	s.awaitFleet("v", v1alpha1.ConditionRolloutFailed, metav1.ConditionFalse)
	s.awaitRolled("v", imageSeid, validators-1)
	theReport.figuref(s.t, "from reverting it to all well", "%.1f s", time.Since(began).Seconds())
	s.awaitHeight("rpc-0", s.height("rpc-0")+2)
}

func (s *scenario) overrideFleet(name, key, value string) {
	s.t.Helper()
	s.editFleet(name, func(fleet *v1alpha1.SeiNodeDeployment) {
		spec := &fleet.Spec.Template.Spec
		if spec.Overrides == nil {
			spec.Overrides = map[string]string{}
		}
		if spec.Overrides[key] = value; value == "" {
			delete(spec.Overrides, key)
		}
	})
}

// withOverride are the nodes of a fleet whose spec has a key.
func (s *scenario) withOverride(fleet, key string) []string {
	s.t.Helper()
	var names []string
	for _, node := range s.nodesOf(fleet) {
		if _, has := node.Spec.Overrides[key]; has {
			names = append(names, node.Name)
		}
	}
	return names
}

func (s *scenario) nodesOf(fleet string) []v1alpha1.SeiNode {
	s.t.Helper()
	nodes := &v1alpha1.SeiNodeList{}
	if err := s.List(s.t.Context(), nodes, client.InNamespace(s.namespace), client.MatchingLabels{v1alpha1.LabelDeployment: fleet}); err != nil {
		s.t.Fatal(err)
	}
	return nodes.Items
}

// drainWithinTheBudget drains the only Kubernetes node of the validators. The first evicted one finds no
// other place, so its PodDisruptionBudget keeps the rest, and the chain continues.
func (s *scenario) drainWithinTheBudget() {
	s.undisturbed.Lock()
	defer s.undisturbed.Unlock()
	before := s.podsOf("v")
	node := s.pod("v-0").Spec.NodeName
	defer func() {
		if _, err := s.kubectl(context.WithoutCancel(s.t.Context()), nil, "uncordon", node); err != nil {
			s.t.Error(err)
		}
	}()
	_, err := s.kubectl(s.t.Context(), nil, "drain", node, "--pod-selector="+v1alpha1.LabelDeployment+"=v", "--delete-emptydir-data", "--timeout=30s")
	if err == nil || !strings.Contains(err.Error(), "disruption budget") {
		s.t.Fatalf("draining the node of all validators ended with %v, want it to be held back by the disruption budget", err)
	}
	stayed := 0
	for name, uid := range s.podsOf("v") {
		if before[name] == uid {
			stayed++
		}
	}
	if stayed != validators-1 {
		s.t.Errorf("%d of %d validators were left alone, want all but one", stayed, validators)
	}
	s.awaitHeight("rpc-0", s.height("rpc-0")+3)
	if _, err := s.kubectl(s.t.Context(), nil, "uncordon", node); err != nil {
		s.t.Fatal(err)
	}
	s.awaitFleet("v", v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
}

// podsOf are the pods of a fleet that are not on their way out, by name.
func (s *scenario) podsOf(fleet string) map[string]types.UID {
	s.t.Helper()
	pods := &corev1.PodList{}
	if err := s.List(s.t.Context(), pods, client.InNamespace(s.namespace), client.MatchingLabels{v1alpha1.LabelDeployment: fleet}); err != nil {
		s.t.Fatal(err)
	}
	uids := map[string]types.UID{}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.DeletionTimestamp == nil {
			uids[pod.Name] = pod.UID
		}
	}
	return uids
}

// deleteInForeground deletes the fleet of validators as Argo CD prunes (V2). Retained nodes keep their pods
// and keep signing.
func (s *scenario) deleteInForeground() {
	s.editFleet("v", func(fleet *v1alpha1.SeiNodeDeployment) { fleet.Spec.DeletionPolicy = v1alpha1.VolumeRetain })
	s.awaitFleet("v", v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
	before := s.podsOf("v")
	out, err := s.kubectl(s.t.Context(), nil, "-n", s.namespace, "delete", "seinodedeployment/v", "--cascade=foreground", "--timeout=120s")
	if err != nil {
		s.t.Fatalf("deleting the fleet: %v: %s", err, out)
	}
	s.awaitHeight("v-0", s.height("v-0")+10) // four of four have to sign on, or at least three
	if nodes := s.nodesOf("v"); len(nodes) != validators {
		s.t.Errorf("%d validators are left, want %d", len(nodes), validators)
	}
	after := s.podsOf("v")
	for name, uid := range before {
		if after[name] != uid {
			s.t.Errorf("pod %s was %s and is %s", name, uid, after[name])
		}
	}
	for ordinal := range validators {
		s.awaitInSync(fmt.Sprintf("v-%d", ordinal))
	}
}
