package events

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

// core is a reference to an object of the core group beside another. Events name it also
// when it is not there: that may be what they are about.
func core(beside client.Object, kind, name string) runtime.Object {
	if name == "" {
		return nil
	}
	return &corev1.ObjectReference{APIVersion: "v1", Kind: kind, Namespace: beside.GetNamespace(), Name: name}
}

// Pod is the node's pod.
func Pod(node *seiv1.SeiNode) runtime.Object { return core(node, "Pod", render.PodName(node)) }

// Claim is the node's volume claim.
func Claim(node *seiv1.SeiNode) runtime.Object {
	return core(node, "PersistentVolumeClaim", render.ClaimName(node))
}

// StatefulSet is the node's StatefulSet.
func StatefulSet(node *seiv1.SeiNode) runtime.Object {
	return &corev1.ObjectReference{
		APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet", Namespace: node.Namespace, Name: node.Name,
	}
}

// Node is a node of a fleet.
func Node(fleet *seiv1.SeiNodeDeployment, name string) runtime.Object {
	if name == "" {
		return nil
	}
	return &corev1.ObjectReference{APIVersion: seiv1.GroupVersion.String(), Kind: seiv1.KindSeiNode, Namespace: fleet.Namespace, Name: name}
}

// about is the other object that a condition of a node is about.
func about(conditionType string, node *seiv1.SeiNode) runtime.Object {
	switch conditionType {
	case seiv1.ConditionReady, seiv1.ConditionNodeUpdateInProgress:
		return Pod(node)
	case seiv1.ConditionImportPVCReady:
		return Claim(node)
	case seiv1.ConditionSigningKeyReady:
		return core(node, "Secret", node.Spec.SigningKeySecret())
	case seiv1.ConditionNodeKeyReady:
		return core(node, "Secret", node.Spec.NodeKeySecret())
	case seiv1.ConditionOperatorKeyringReady:
		if k := node.Spec.OperatorKeyringSecret(); k != nil {
			return core(node, "Secret", k.SecretName)
		}
	}
	return nil
}
