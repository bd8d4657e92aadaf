package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// sourceOperator is the name of the operator's log among those of containers.
const sourceOperator = "operator"

// PodLogs reads the log of a container.
type PodLogs interface {
	// Stream returns the log as it is written, until it ends or the context does.
	Stream(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error)
}

type apiServerLogs struct{ clientset kubernetes.Interface }

// Stream reads through the API server, which needs the right `get` on `pods/log`.
func (a *apiServerLogs) Stream(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	return a.clientset.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
}

// logSource is one log.
type logSource struct {
	name, container string
	pod             types.NamespacedName
	// about reports whether a line is to be printed; nil for all.
	about func(string) bool
}

// logSources are the containers of a node's pods, and the operator's pods, in the order of names.
func logSources(ctx context.Context, cluster *Cluster, flags *logFlags, node types.NamespacedName) ([]logSource, error) {
	var pods corev1.PodList
	if err := cluster.Client.List(ctx, &pods, client.InNamespace(node.Namespace), client.MatchingLabels{v1alpha1.LabelNode: node.Name}); err != nil {
		return nil, fmt.Errorf("listing the pods of the node: %w", err)
	}
	var sources []logSource
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, container := range containersOf(pod) {
			if flags.wants(container) {
				sources = append(sources, logSource{name: container, container: container, pod: client.ObjectKeyFromObject(pod)})
			}
		}
	}
	if flags.wants(sourceOperator) && !flags.previous {
		sources = append(sources, operatorSources(ctx, cluster, flags, node)...)
	}
	return sources, nil
}

func operatorSources(ctx context.Context, cluster *Cluster, flags *logFlags, node types.NamespacedName) []logSource {
	var pods corev1.PodList
	err := cluster.Client.List(ctx, &pods, client.InNamespace(flags.operatorNamespace), client.MatchingLabels{operatorLabel: operatorName})
	if err != nil {
		return nil // who may not see the operator reads the node's logs
	}
	var sources []logSource
	for i := range pods.Items {
		sources = append(sources, logSource{
			name: sourceOperator, container: operatorContainer, pod: client.ObjectKeyFromObject(&pods.Items[i]), about: naming(node),
		})
	}
	return sources
}

// naming passes lines that name the node and its namespace as values, in both formats of the log.
func naming(node types.NamespacedName) func(string) bool {
	return func(line string) bool {
		return strings.Contains(line, `"`+node.Name+`"`) && strings.Contains(line, `"`+node.Namespace+`"`) ||
			strings.Contains(line, `"`+node.String()+`"`)
	}
}

func (l *logFlags) wants(source string) bool {
	return len(l.sources) == 0 || slices.Contains(l.sources, source)
}

// containersOf are the containers of a pod that have started once.
func containersOf(pod *corev1.Pod) []string {
	var names []string
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if status.State.Running != nil || status.State.Terminated != nil || status.LastTerminationState.Terminated != nil {
			names = append(names, status.Name)
		}
	}
	return names
}

// isReported reports whether a pod is one of a node or of the operator.
func isReported(pod *corev1.Pod) bool {
	return pod.Labels[v1alpha1.LabelNode] != "" || pod.Labels[operatorLabel] == operatorName
}

// restarted reports whether a container has a log from before its last restart.
func restarted(pod *corev1.Pod, container string) bool {
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if status.Name == container {
			return status.LastTerminationState.Terminated != nil
		}
	}
	return false
}
