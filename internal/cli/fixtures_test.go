package cli

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

const (
	oldImage = "registry.example.com/seid:v6.4.0"
	newImage = "registry.example.com/seid:v6.5.0"
)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

func agoPtr(d time.Duration) *metav1.Time {
	t := ago(d)
	return &t
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: ago(time.Hour)}
}

// aNode is a full node of the given name that is in sync.
func aNode(name string) *seiv1.SeiNode {
	node := &seiv1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: testNamespace, Generation: 3, CreationTimestamp: ago(100 * 24 * time.Hour)},
		Spec:       seiv1.SeiNodeSpec{ChainID: "pacific-1", Image: oldImage, FullNode: &seiv1.FullNodeSpec{}},
	}
	node.Status.ObservedGeneration, node.Status.Phase, node.Status.CurrentImage = 3, seiv1.NodeRunning, oldImage
	node.Status.Conditions = []metav1.Condition{condition(seiv1.ConditionReady, metav1.ConditionTrue, "InSync", "the node is in sync with its chain")}
	return node
}

// member makes a node one of fleet rpc.
func member(ordinal int) *seiv1.SeiNode {
	node := aNode(fmt.Sprintf("rpc-%d", ordinal))
	node.Labels = map[string]string{seiv1.LabelDeployment: "rpc", seiv1.LabelDeploymentOrdinal: fmt.Sprint(ordinal)}
	node.OwnerReferences = []metav1.OwnerReference{*fleet.OwnerReference(aFleet())}
	return node
}

func aFleet() *seiv1.SeiNodeDeployment {
	snd := &seiv1.SeiNodeDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: "rpc", Namespace: testNamespace, UID: "fleet-uid", Generation: 7},
		Spec: seiv1.SeiNodeDeploymentSpec{
			Replicas: 3, Template: seiv1.SeiNodeTemplate{Spec: seiv1.SeiNodeSpec{ChainID: "pacific-1", Image: oldImage, FullNode: &seiv1.FullNodeSpec{}}},
		},
	}
	snd.Status.ObservedGeneration, snd.Status.Phase = 7, seiv1.DeploymentReady
	snd.Status.Replicas, snd.Status.ReadyReplicas, snd.Status.UpdatedReplicas = 3, 3, 3
	return snd
}

// aPod is the pod of a node, running with all containers ready.
func aPod(node *seiv1.SeiNode) *corev1.Pod {
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: node.Name + "-0", Namespace: node.Namespace, Labels: map[string]string{seiv1.LabelNode: node.Name}, CreationTimestamp: ago(50 * time.Hour),
	}}
	pod.Spec.NodeName = "machine-1"
	pod.Spec.InitContainers = []corev1.Container{{Name: "seid-init"}, {Name: "sidecar", RestartPolicy: &always}}
	pod.Spec.Containers = []corev1.Container{{Name: "seid", Image: node.Status.CurrentImage}}
	pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, "10.0.0.1"
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "seid-init", Ready: true}, {Name: "sidecar", Ready: true}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "seid", Ready: true}}
	return pod
}

func aClaim(node *seiv1.SeiNode) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "data-" + node.Name, Namespace: node.Namespace, CreationTimestamp: ago(100 * 24 * time.Hour),
	}}
}

// anUpdate is a plan that replaces the pod and is at its third step.
func anUpdate() *seiv1.TaskPlan {
	return &seiv1.TaskPlan{
		ID: "4a1f", Phase: seiv1.PlanActive, Reason: "ImageChanged", Message: "the spec asks for image " + newImage, StartedAt: agoPtr(3 * time.Minute),
		Target: &seiv1.PlanTarget{Image: newImage, Generation: 3},
		Tasks: []seiv1.PlannedTask{
			{Type: "apply-statefulset", ID: "1", Status: seiv1.TaskComplete, Attempt: 1, StartedAt: agoPtr(180 * time.Second), CompletedAt: agoPtr(179 * time.Second)},
			{Type: "replace-pod", ID: "2", Status: seiv1.TaskComplete, Attempt: 1, StartedAt: agoPtr(179 * time.Second), CompletedAt: agoPtr(150 * time.Second)},
			{
				Type: "observe-image", ID: "3", Status: seiv1.TaskRunning, Attempt: 1, StartedAt: agoPtr(150 * time.Second),
				Message: "pod rpc-1-0 is not ready: pulling image " + newImage,
			},
			{Type: "config-apply", ID: "4", Status: seiv1.TaskPending},
			{Type: "mark-ready", ID: "5", Status: seiv1.TaskPending},
		},
	}
}

// sidecarMetrics is what a sidecar answers to a scraper.
func sidecarMetrics(state string, height, lag, peers, diskFree int64) string {
	text := fmt.Sprintf("# TYPE sei_node_height gauge\nsei_node_height %d\n# TYPE sei_node_lag_blocks gauge\nsei_node_lag_blocks %d\n"+
		"# TYPE sei_node_peers gauge\nsei_node_peers %d\n# TYPE sei_node_disk_size_bytes gauge\nsei_node_disk_size_bytes 1e+12\n"+
		"# TYPE sei_node_disk_free_bytes gauge\nsei_node_disk_free_bytes %d\n# TYPE sei_node_sync_state gauge\n", height, lag, peers, diskFree)
	for _, s := range []string{"inSync", "catchingUp"} {
		value := 0
		if s == state {
			value = 1
		}
		text += fmt.Sprintf("sei_node_sync_state{state=%q} %d\n", s, value)
	}
	return text
}

// abciInfo is what seid answers to abci_info; the hash is 32 bytes of one value.
func abciInfo(height int64, hash string) string {
	return fmt.Sprintf(`{"response":{"data":"sei","last_block_height":"%d","last_block_app_hash":%q}}`, height, hash)
}

// commit is what seid answers to commit.
func commit(height int64, appHash string) string {
	return fmt.Sprintf(`{"signed_header":{"header":{"height":"%d","app_hash":%q},"commit":{"block_id":{"hash":"AB"}}}}`, height, appHash)
}

// hexOf is base64 as seid's headers spell it.
func hexOf(b64 string) string {
	raw, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		return err.Error()
	}
	return strings.ToUpper(hex.EncodeToString(raw))
}
