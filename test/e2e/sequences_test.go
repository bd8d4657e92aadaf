package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/test/elapse"
)

// Events that are harmless alone must be so in a row (docs/contributing/soundness.md, N2 to N5). A node that is in sync before stays,
// or is back, in sync on its last good configuration, and ends Ready once the spec can be had.
func TestNode_SequencesOfEvents_EndInSync(t *testing.T) {
	s := join(t, "sequences")
	s.create(s.fullNode("n"))
	s.awaitInSync("n")
	for _, c := range []struct {
		what   string
		happen func()
	}{
		{"an override with a typo, then the pod is evicted", func() {
			s.override("n", "mempool.sise", "1")
			s.awaitCondition("n", v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonSpecInvalid)
			s.replacePod("n", s.evictPod)
			s.awaitCondition("n", v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonInSync)
			s.override("n", "mempool.sise", "")
		}},
		{"a configuration that seid refuses, then the pod is lost, then it is unset", func() {
			s.override("n", "chain.min_gas_prices", "0.01")
			s.awaitCondition("n", v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonConfigRefused)
			s.replacePod("n", s.deletePod)
			s.awaitCondition("n", v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonInSync)
			s.override("n", "chain.min_gas_prices", "")
		}},
		{"paused, an override that needs a restart, resumed", func() {
			s.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Paused = true })
			s.awaitNoPod("n")
			s.override("n", "evm.max_tx_pool_txs", "777")
			s.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Paused = false })
		}},
		{"the pod is lost during a reconfiguration", func() {
			s.override("n", "evm.max_tx_pool_txs", "778")
			s.replacePod("n", s.deletePod)
		}},
	} {
		began := time.Now()
		c.happen()
		s.awaitInSync("n")
		t.Logf("%s: in sync and Ready after %s", c.what, time.Since(began).Round(time.Second))
	}
	s.awaitBlocks("n", 2)
}

func (s *scenario) override(name, key, value string) {
	s.t.Helper()
	s.edit(name, func(n *v1alpha1.SeiNode) {
		if n.Spec.Overrides == nil {
			n.Spec.Overrides = map[string]string{}
		}
		if n.Spec.Overrides[key] = value; value == "" {
			delete(n.Spec.Overrides, key)
		}
	})
}

func (s *scenario) awaitCondition(name, conditionType string, status metav1.ConditionStatus, reason string) *metav1.Condition {
	s.t.Helper()
	var last *metav1.Condition
	await(s.t, inSyncTimeout, fmt.Sprintf("%s of %s to be %s", conditionType, name, reason), func(context.Context) (bool, string, error) {
		node := &v1alpha1.SeiNode{}
		err := s.get(name, node)
		last = conditions.Get(node.Status.Conditions, conditionType)
		return last != nil && last.Status == status && last.Reason == reason && last.ObservedGeneration == node.Generation, describe(node), err
	})
	return last
}

// S1: a validator whose Secret was edited to another key does not sign with it when its pod is lost, and says why.
func TestValidator_KeySwappedAndPodLost_DoesNotSign(t *testing.T) {
	s := found(t, "keyswap")
	s.create(s.validator("v"))
	s.awaitInSync("v")
	reserved := s.mustNode("v").Status.ConsensusAddress

	other := newChain(t, s.seid, "other-1")
	secret := &corev1.Secret{}
	s.mustGet("signing-key", secret)
	for _, foreign := range other.keySecrets() {
		if foreign.Name == secret.Name {
			secret.Data = foreign.Data
		}
	}
	if err := s.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	s.replacePod("v", s.deletePod)
	c := s.awaitCondition("v", v1alpha1.ConditionSigningKeyReady, metav1.ConditionFalse, v1alpha1.ReasonKeyChanged)
	if !strings.Contains(c.Message, reserved) {
		t.Errorf("the message does not name the key that is reserved, %s: %s", reserved, c.Message)
	}
	if pids := processes(s.pod("v"), []string{"seid", "start"}); len(pids) != 0 {
		t.Errorf("seid runs as %v", pids)
	}
	t.Log(c.Message)
}

func (s *scenario) mustNode(name string) *v1alpha1.SeiNode {
	s.t.Helper()
	node := &v1alpha1.SeiNode{}
	s.mustGet(name, node)
	return node
}

// An operator that is away stops no restart of a node that does not sign; a validator waits for it.
func TestOperator_Away_FullNodesComeBackAndValidatorsWait(t *testing.T) {
	s := found(t, "away")
	s.create(s.validator("v"))
	s.create(s.fullNode("n"))
	s.awaitInSync("v")
	s.awaitInSync("n")

	s.undisturbed.Lock()
	defer s.undisturbed.Unlock()
	s.scaleOperator("0")
	defer s.scaleOperator("1")
	began := time.Now()
	s.replacePod("n", s.deletePod)
	await(t, inSyncTimeout, "the full node's pod to be ready without an operator", func(context.Context) (bool, string, error) {
		pod := &corev1.Pod{}
		err := s.get("n-0", pod)
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady {
				return c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil, string(pod.Status.Phase), err
			}
		}
		return false, string(pod.Status.Phase), err
	})
	t.Logf("the full node was in sync again %s after its pod was deleted, without an operator", time.Since(began).Round(time.Second))

	s.replacePod("v", s.deletePod)
	s.awaitLog("v", "sidecar", "listening")
	// Twice the time after which a full node's sidecar opens by itself.
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline) && elapse.For(t.Context(), time.Second); {
		if pids := processes(s.pod("v"), []string{"seid", "start"}); len(pids) != 0 {
			t.Fatalf("the validator started as %v without an operator", pids)
		}
	}
	s.scaleOperator("1")
	await(t, inSyncTimeout, "the operator to let the validator start", func(context.Context) (bool, string, error) {
		return len(processes(s.pod("v"), []string{"seid", "start"})) > 0, "", nil
	})
	s.awaitInSync("n")
}

func (s *scenario) scaleOperator(replicas string) {
	s.t.Helper()
	ctx := context.WithoutCancel(s.t.Context())
	if out, err := s.kubectl(ctx, nil, "-n", operatorNamespace, "scale", "deployment/sei-operator", "--replicas="+replicas); err != nil {
		s.t.Errorf("scaling the operator to %s: %v: %s", replicas, err, out)
	}
	await(s.t, inSyncTimeout, "the operator to have "+replicas+" replicas", func(context.Context) (bool, string, error) {
		pods := &corev1.PodList{}
		err := s.List(ctx, pods, client.InNamespace(operatorNamespace), client.MatchingLabels{"app.kubernetes.io/name": "sei-operator"})
		return fmt.Sprint(len(pods.Items)) == replicas, fmt.Sprintf("%d pods", len(pods.Items)), err
	})
}

// awaitLog waits until a container has written something.
func (s *scenario) awaitLog(node, container, text string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, fmt.Sprintf("%s of %s to log %q", container, node, text), func(ctx context.Context) (bool, string, error) {
		out, err := s.kubectl(ctx, nil, "-n", s.namespace, "logs", node+"-0", "-c", container)
		return strings.Contains(string(out), text), "", err
	})
}

// Ready means ready: kubectl wait after an image change returns only when the new image is in sync.
func TestNode_KubectlWaitAfterAnImageChange_ReturnsWithTheNewImageInSync(t *testing.T) {
	s := join(t, "wait")
	s.create(s.fullNode("n"))
	s.awaitInSync("n")
	s.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = imageNext })
	began := time.Now()
	out, err := s.kubectl(t.Context(), nil, "-n", s.namespace, "wait", "seinode/n", "--for=condition=Ready", "--timeout=240s")
	if err != nil {
		t.Fatalf("kubectl wait: %v: %s", err, out)
	}
	n := s.mustNode("n")
	if n.Status.CurrentImage != imageNext || s.pod("n").Spec.Containers[0].Image != imageNext || n.Status.ObservedGeneration != n.Generation {
		t.Errorf("kubectl wait returned while the node runs %s at generation %d of %d", n.Status.CurrentImage, n.Status.ObservedGeneration, n.Generation)
	}
	t.Logf("kubectl wait returned after %s", time.Since(began).Round(time.Second))
}
