package podsim

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// node is a simulated machine.
type node struct {
	name, ip string
	labels   map[string]string
	lost     atomic.Bool
}

func (n *node) isLost() bool { return n.lost.Load() }

// fits reports whether a pod may run on the machine: by its node selector, and by a required affinity
// to machines by name.
func (n *node) fits(pod *corev1.Pod) bool {
	for k, v := range pod.Spec.NodeSelector {
		if n.labels[k] != v {
			return false
		}
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		if !slices.ContainsFunc(term.MatchFields, func(r corev1.NodeSelectorRequirement) bool { return !slices.Contains(r.Values, n.name) }) {
			return true
		}
	}
	return false
}

// hash is short and stable.
func hash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:8]
}

func (s *Simulator) createNodes(ctx context.Context) error {
	prefix := "sim"
	if s.opts.Namespace != "" {
		prefix = fmt.Sprintf("sim-%x", hash(s.opts.Namespace)[:4])
	}
	for i := range s.opts.Nodes {
		name := fmt.Sprintf("%s-%d", prefix, i)
		n := &node{name: name, ip: s.ips.take(), labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i), corev1.LabelOSStable: "linux",
		}}
		obj := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: n.labels}, Status: corev1.NodeStatus{
			Capacity: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1000"), corev1.ResourceMemory: resource.MustParse("10Ti"), corev1.ResourcePods: resource.MustParse("10000"),
			},
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.ip}},
		}}
		if _, err := s.client.CoreV1().Nodes().Create(ctx, obj, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("making node %s: %w", name, err)
		}
		if err := s.setNodeReady(ctx, name, true); err != nil {
			return err
		}
		s.mu.Lock()
		s.nodes = append(s.nodes, n)
		s.mu.Unlock()
	}
	return nil
}

func (s *Simulator) nodeNamed(name string) *node {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// setNodeReady writes what the node lifecycle controller would: the condition
// and the taints that go with it.
func (s *Simulator) setNodeReady(ctx context.Context, name string, ready bool) error {
	nodes := s.client.CoreV1().Nodes()
	condition := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status",
		LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.Now(),
	}
	var taints []corev1.Taint
	if !ready {
		condition.Status, condition.Reason = corev1.ConditionUnknown, "NodeStatusUnknown"
		condition.Message = "Kubelet stopped posting node status."
		taints = []corev1.Taint{
			{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule},
			{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute},
		}
	}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		obj, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		obj.Spec.Taints = taints
		if obj, err = nodes.Update(ctx, obj, metav1.UpdateOptions{}); err != nil {
			return err
		}
		obj.Status.Conditions = []corev1.NodeCondition{condition}
		_, err = nodes.UpdateStatus(ctx, obj, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("writing node %s: %w", name, err)
	}
	return nil
}

// LoseNode cuts a node off: it turns unreachable, its pods turn not ready and
// can no longer be dialled, and pods that are deleted stay terminating until
// they are deleted by force or the node comes back.
func (s *Simulator) LoseNode(ctx context.Context, name string) error {
	n := s.nodeNamed(name)
	if n == nil {
		return fmt.Errorf("losing node %s: there is none of that name", name)
	}
	n.lost.Store(true)
	if err := s.setNodeReady(ctx, name, false); err != nil {
		return err
	}
	var errs []error
	for _, pod := range s.podsOn(name) {
		s.runtime.SetReachable(pod.UID, false)
		status := *pod.Status.DeepCopy()
		setCondition(&status, corev1.PodCondition{
			Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "NodeNotReady", Message: "Node is not ready",
		}, time.Now())
		patch, err := statusPatch(pod, status)
		if err == nil {
			_, err = s.client.CoreV1().Pods(pod.Namespace).
				Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		}
		if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) { // a pod may be deleted at the same time
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// RestoreNode brings a lost node back with everything that still runs on it.
func (s *Simulator) RestoreNode(ctx context.Context, name string) error {
	n := s.nodeNamed(name)
	if n == nil {
		return fmt.Errorf("restoring node %s: there is none of that name", name)
	}
	if err := s.setNodeReady(ctx, name, true); err != nil {
		return err
	}
	n.lost.Store(false)
	for _, pod := range s.podsOn(name) {
		s.runtime.SetReachable(pod.UID, true)
		s.Poke(pod.Namespace, pod.Name)
	}
	// Pods that found no node may fit now.
	s.pokeWhere("", func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" })
	return nil
}

func (s *Simulator) podsOn(node string) []*corev1.Pod {
	var found []*corev1.Pod
	for _, obj := range s.pods.GetStore().List() {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName == node {
			found = append(found, pod)
		}
	}
	return found
}
