package render

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// containerPull is the one container of a pod that only pulls.
const containerPull = "pull"

// AnnotationPullMachine on a pod that only pulls is the machine it pulls on. The cache keeps no
// affinity, and the pod has no machine before it is scheduled.
const AnnotationPullMachine = "sei.io/pull-machine"

// ImagePullPodName is the name of the pod that pulls an image ahead for a node.
func ImagePullPodName(node *v1alpha1.SeiNode) string { return node.Name + "-pull" }

// ImagePullPod pulls an image on the machine of the node's pod, with the same pull secrets, those of
// the service account among them, and the same tolerations. It asks seid for its version and ends. An
// image that cannot run that was pulled all the same.
//
// It carries none of the labels by which StatefulSets, Services, budgets or the operator itself find
// a node's pod.
func ImagePullPod(in Input, image, machine string) (*corev1.Pod, error) {
	s := pod{Input: in}.scheduling()
	tolerations, err := applyConfigs[corev1ac.TolerationApplyConfiguration](s.Tolerations)
	if err != nil {
		return nil, fmt.Errorf("rendering tolerations: %w", err)
	}
	spec := corev1ac.PodSpec().
		WithSecurityContext(podSecurity()).
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithServiceAccountName(serviceAccount(s)).
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithTerminationGracePeriodSeconds(0).
		WithTolerations(tolerations...).
		WithAffinity(onMachine(machine)).
		WithContainers(pullContainer(image)).
		WithVolumes(emptyDir(volumeTmp)).
		WithImagePullSecrets(imagePullSecrets(in.Node)...)
	return Convert[corev1.Pod](corev1ac.Pod(ImagePullPodName(in.Node), in.Node.Namespace).
		WithLabels(imagePullLabels(in.Node)).
		WithAnnotations(map[string]string{AnnotationPullMachine: machine}).
		WithOwnerReferences(ownerReference(in.Node)).
		WithSpec(spec))
}

// imagePullLabels leave out the label of a node's pods and that of the fleet.
func imagePullLabels(node *v1alpha1.SeiNode) map[string]string {
	return map[string]string{
		v1alpha1.LabelImagePull: node.Name, v1alpha1.LabelChain: node.Spec.ChainID, v1alpha1.LabelComponent: v1alpha1.ComponentImagePull,
	}
}

// pullContainer runs a command that every image of a node has. Every command of seid writes into its
// home first.
func pullContainer(image string) *corev1ac.ContainerApplyConfiguration {
	little := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
	}
	return container(containerPull, image, little).
		WithCommand(seid.BinaryName, "version", "--home", tmpDir+"/home").
		WithVolumeMounts(mount(volumeTmp, tmpDir))
}

// onMachine places a pod on one machine, through the scheduler: it counts what there is room for.
func onMachine(machine string) *corev1ac.AffinityApplyConfiguration {
	term := corev1ac.NodeSelectorTerm().WithMatchFields(corev1ac.NodeSelectorRequirement().
		WithKey(metav1.ObjectNameField).WithOperator(corev1.NodeSelectorOpIn).WithValues(machine))
	return corev1ac.Affinity().WithNodeAffinity(corev1ac.NodeAffinity().
		WithRequiredDuringSchedulingIgnoredDuringExecution(corev1ac.NodeSelector().WithNodeSelectorTerms(term)))
}

// PullImage is the image that a pod which only pulls is for; empty if it has no such container.
func PullImage(spec corev1.PodSpec) string { return imageOf(spec.Containers, containerPull) }
