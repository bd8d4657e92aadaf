package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

// inSyncTimeout is how long a node may take from anything to InSync, beside other scenarios on two cores.
const inSyncTimeout = 6 * time.Minute

// scenario is a namespace of its own.
type scenario struct {
	*cluster
	t         *testing.T
	namespace string
	chain     chain
	// peers are where full nodes of the scenario find others.
	peers v1alpha1.LabelPeers
}

// found begins a scenario with a chain of its own. Its one validator must not be restarted: a chain of one that is
// stopped between its vote and the block stands forever, because nobody else can vote and it may not vote twice.
func found(t *testing.T, name string) *scenario {
	t.Helper()
	s := begin(t, name)
	s.makeChain(name + "-1")
	return s
}

// makeChain puts a new chain's genesis and its validator's keys into the namespace.
func (s *scenario) makeChain(id string) {
	s.t.Helper()
	s.chain = newChain(s.t, s.seid, id)
	s.peers = v1alpha1.LabelPeers{Selector: map[string]string{"scenario": s.namespace}}
	s.create(s.chain.genesisMap(s.t))
	for _, secret := range s.chain.keySecrets() {
		s.create(secret)
	}
}

// join begins a scenario whose full nodes follow the chain that all scenarios share.
func join(t *testing.T, name string) *scenario {
	t.Helper()
	s := begin(t, name)
	other := sharedChain(t)
	s.chain = other.chain
	s.peers = v1alpha1.LabelPeers{Selector: other.peers.Selector, Namespace: other.namespace}
	s.create(s.chain.genesisMap(t))
	return s
}

// begin makes the namespace, at the restricted Pod Security level.
func begin(t *testing.T, name string) *scenario {
	t.Helper()
	if why := cannotRun(); why != "" {
		t.Skip("skipped: " + why)
	}
	t.Parallel()
	theReport.watch(t)
	s := &scenario{cluster: theCluster, t: t, namespace: "e2e-" + name}
	s.createNamespace()
	t.Cleanup(s.end)
	return s
}

// in is the scenario as a part of its test sees it.
func (s *scenario) in(t *testing.T) *scenario {
	t.Helper()
	part := *s
	part.t = t
	return &part
}

func (s *scenario) createNamespace() {
	s.t.Helper()
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: s.namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}})
}

// end collects what a failure needs and frees the machine for the scenarios that still run.
func (s *scenario) end() {
	if s.t.Failed() {
		s.t.Logf("status, events and logs are in %s", s.collect(s.t.Name(), s.namespace, operatorNamespace))
	}
	s.evidence.keep(s.namespace)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := s.Delete(context.WithoutCancel(s.t.Context()), namespace); err != nil {
		s.t.Errorf("deleting the namespace: %v", err)
	}
}

// create puts an object into the scenario's namespace.
func (s *scenario) create(o client.Object) {
	s.t.Helper()
	if _, cluster := o.(*corev1.Namespace); !cluster {
		o.SetNamespace(s.namespace)
	}
	if err := s.Create(s.t.Context(), o); err != nil {
		s.t.Fatalf("creating %T %s: %v", o, o.GetName(), err)
	}
}

func (s *scenario) get(name string, into client.Object) error {
	return s.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, into)
}

func (s *scenario) mustGet(name string, into client.Object) {
	s.t.Helper()
	if err := s.get(name, into); err != nil {
		s.t.Fatalf("reading %T %s: %v", into, name, err)
	}
}

// edit changes a SeiNode as kubectl edit does.
func (s *scenario) edit(name string, change func(*v1alpha1.SeiNode)) {
	s.t.Helper()
	node := &v1alpha1.SeiNode{}
	s.mustGet(name, node)
	before := node.DeepCopy()
	change(node)
	if err := s.Patch(s.t.Context(), node, client.MergeFrom(before)); err != nil {
		s.t.Fatalf("changing %s: %v", name, err)
	}
}

// node is a SeiNode of the scenario's chain.
func (s *scenario) node(name string) *v1alpha1.SeiNode {
	return &v1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"scenario": s.namespace}},
		Spec:       v1alpha1.SeiNodeSpec{ChainID: s.chain.id, Image: imageSeid},
	}
}

// validator is the chain's validator with the founder's keys.
func (s *scenario) validator(name string) *v1alpha1.SeiNode {
	node := s.node(name)
	node.Spec.Validator = &v1alpha1.ValidatorSpec{
		SigningKey: &v1alpha1.SigningKeySource{Secret: v1alpha1.KeySecret{SecretName: "signing-key"}},
		NodeKey:    &v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "node-key"}},
	}
	return node
}

// fullNode finds its peers by their labels.
func (s *scenario) fullNode(name string) *v1alpha1.SeiNode {
	node := s.node(name)
	node.Spec.FullNode = &v1alpha1.FullNodeSpec{}
	node.Spec.Peers = []v1alpha1.PeerSource{{Label: s.peers.DeepCopy()}}
	return node
}

// awaitReason waits until the node's condition Ready has a reason.
func (s *scenario) awaitReason(name, reason string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, name+" to be "+reason, func(context.Context) (bool, string, error) {
		node := &v1alpha1.SeiNode{}
		err := s.get(name, node)
		ready := conditions.Get(node.Status.Conditions, v1alpha1.ConditionReady)
		return ready != nil && ready.Reason == reason && node.Status.ObservedGeneration == node.Generation, describe(node), err
	})
}

// awaitInSync waits until the node is settled: in sync, and no plan is left.
func (s *scenario) awaitInSync(name string) *v1alpha1.SeiNode {
	s.t.Helper()
	node := &v1alpha1.SeiNode{}
	await(s.t, inSyncTimeout, name+" to be InSync", func(context.Context) (bool, string, error) {
		node = &v1alpha1.SeiNode{}
		err := s.get(name, node)
		ready := conditions.Get(node.Status.Conditions, v1alpha1.ConditionReady)
		settled := node.Status.Plan == nil && node.Status.ObservedGeneration == node.Generation
		return settled && ready != nil && ready.Reason == v1alpha1.ReasonInSync, describe(node), err
	})
	return node
}

func describe(node *v1alpha1.SeiNode) string {
	text := "phase " + string(node.Status.Phase)
	for _, c := range node.Status.Conditions {
		if c.Type == v1alpha1.ConditionReady || c.Type == v1alpha1.ConditionPlanInProgress || c.Type == v1alpha1.ConditionSpecValid {
			text += fmt.Sprintf("; %s %s (%s)", c.Type, c.Reason, c.Message)
		}
	}
	return text
}

// pod is the node's pod.
func (s *scenario) pod(node string) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{}
	s.mustGet(node+"-0", pod)
	return pod
}

// rpc talks to the node's RPC through the API server.
func (s *scenario) rpc(node string) *rpc.Client {
	base := fmt.Sprintf("%s/api/v1/namespaces/%s/pods/%s-0:%d/proxy", s.config.Host, s.namespace, node, seid.PortRPC)
	return rpc.New(base, rpc.WithHTTPClient(s.web))
}

// height is the node's latest block; zero while the node does not answer.
func (s *scenario) height(node string) int64 {
	status, err := s.rpc(node).Status(s.t.Context())
	if err != nil {
		return 0
	}
	return status.SyncInfo.LatestBlockHeight
}

// awaitHeight waits until the node is at least at a height.
func (s *scenario) awaitHeight(node string, height int64) {
	s.t.Helper()
	await(s.t, inSyncTimeout, fmt.Sprintf("%s to reach height %d", node, height), func(ctx context.Context) (bool, string, error) {
		status, err := s.rpc(node).Status(ctx)
		if err != nil {
			return false, "", err
		}
		at := status.SyncInfo.LatestBlockHeight
		return at >= height, fmt.Sprintf("height %d", at), nil
	})
}

// awaitBlocks waits until the node makes progress.
func (s *scenario) awaitBlocks(node string, more int64) {
	s.t.Helper()
	s.awaitHeight(node, s.height(node)+more)
}

// awaitPeers waits until the node is connected to others.
func (s *scenario) awaitPeers(node string, count int) {
	s.t.Helper()
	await(s.t, inSyncTimeout, fmt.Sprintf("%s to have %d peers", node, count), func(ctx context.Context) (bool, string, error) {
		info, err := s.rpc(node).NetInfo(ctx)
		if err != nil {
			return false, "", err
		}
		return info.Connected() >= count, fmt.Sprintf("%d peers", info.Connected()), nil
	})
}
