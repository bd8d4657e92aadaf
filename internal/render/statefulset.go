package render

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
)

// StatefulSet runs the node's one pod. Pods are replaced by the operator's plan
// alone (OnDelete), and the claim is an object of its own, because a claim
// template can neither be imported nor resized.
func StatefulSet(in Input) (*appsv1ac.StatefulSetApplyConfiguration, error) {
	if _, err := domain.ModeOf(&in.Node.Spec); err != nil {
		return nil, fmt.Errorf("rendering statefulset %s/%s: %w", in.Node.Namespace, in.Node.Name, err)
	}
	template, err := podTemplate(in)
	if err != nil {
		return nil, fmt.Errorf("rendering statefulset %s/%s: %w", in.Node.Namespace, in.Node.Name, err)
	}
	replicas := int32(1)
	if in.Node.Spec.Paused {
		replicas = 0
	}
	return appsv1ac.StatefulSet(in.Node.Name, in.Node.Namespace).
		WithLabels(objectLabels(in.Node)).
		WithOwnerReferences(ownerReference(in.Node)).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(replicas).
			WithServiceName(in.Node.Name).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selectorLabels(in.Node))).
			WithUpdateStrategy(appsv1ac.StatefulSetUpdateStrategy().WithType(appsv1.OnDeleteStatefulSetStrategyType)).
			WithTemplate(template)), nil
}

func podTemplate(in Input) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	p := pod{Input: in, chainImage: in.seidImage(), withKeys: true}
	seidContainer := p.seidContainer().
		WithStartupProbe(seidStartup(in.Node)).
		WithReadinessProbe(seidReadiness(in.Node))
	if l := lifecycle(in.Node); l != nil {
		seidContainer.WithLifecycle(l)
	}
	spec, err := p.spec(seidContainer)
	if err != nil {
		return nil, err
	}
	if err := CheckSecrets(spec, in.Node); err != nil {
		return nil, err
	}
	template := corev1ac.PodTemplateSpec().
		WithLabels(podLabels(in.Node)).
		WithAnnotations(podAnnotations(in.Node)).
		WithSpec(spec)
	if restart := in.Node.Annotations[v1alpha1.AnnotationRestart]; restart != "" {
		template.WithAnnotations(map[string]string{v1alpha1.AnnotationRestart: restart})
	}
	template, err = stampHashes(template, in)
	if err != nil {
		return nil, err
	}
	setPullPolicies(template)
	return template, nil
}
