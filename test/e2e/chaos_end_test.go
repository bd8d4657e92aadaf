package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// isWell is what a settled network waits for.
func (r *chaosRun) isWell(ctx context.Context) (bool, string, error) {
	wrong, err := r.wrong(ctx)
	return len(wrong) == 0, strings.Join(wrong, "; "), err
}

// wrong says what keeps the network from being well.
func (r *chaosRun) wrong(ctx context.Context) (wrong []string, err error) {
	nodes := &v1alpha1.SeiNodeList{}
	if err := r.List(ctx, nodes, client.InNamespace(r.namespace)); err != nil {
		return nil, fmt.Errorf("reading nodes: %w", err)
	}
	if len(nodes.Items) != len(r.nodes) {
		wrong = append(wrong, fmt.Sprintf("%d nodes, want %d", len(nodes.Items), len(r.nodes)))
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if n.Status.Plan != nil || n.Status.ObservedGeneration != n.Generation || n.Status.Phase != v1alpha1.NodeRunning {
			wrong = append(wrong, n.Name+": "+describe(n))
		}
		wrong = append(wrong, badConditions(n.Name, n.Status.Conditions)...)
	}
	for _, name := range []string{"v", "rpc"} {
		f := &v1alpha1.SeiNodeDeployment{}
		if err := r.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: name}, f); err != nil {
			return nil, fmt.Errorf("reading fleet %s: %w", name, err)
		}
		if f.Status.ObservedGeneration != f.Generation || f.Status.UpdatedReplicas != f.Spec.Replicas || f.Status.ReadyReplicas != f.Spec.Replicas {
			wrong = append(wrong, name+": "+describeFleet(f))
		}
		wrong = append(wrong, badConditions("fleet "+name, f.Status.Conditions)...)
		for i := range nodes.Items {
			n := &nodes.Items[i]
			if n.Labels[v1alpha1.LabelDeployment] == name && n.Status.CurrentImage != f.Spec.Template.Spec.Image {
				wrong = append(wrong, fmt.Sprintf("%s runs %s, want %s", n.Name, n.Status.CurrentImage, f.Spec.Template.Spec.Image))
			}
		}
	}
	return wrong, nil
}

// badConditions are those that report something that failed or is not done.
func badConditions(name string, all []metav1.Condition) (bad []string) {
	for _, want := range []struct {
		condition string
		status    metav1.ConditionStatus
	}{
		{v1alpha1.ConditionReady, metav1.ConditionTrue},
		{v1alpha1.ConditionInSync, metav1.ConditionTrue},
		{v1alpha1.ConditionNodesReady, metav1.ConditionTrue},
		{v1alpha1.ConditionSidecarReady, metav1.ConditionTrue},
		{v1alpha1.ConditionStalled, metav1.ConditionFalse},
		{v1alpha1.ConditionReconciling, metav1.ConditionFalse},
		{v1alpha1.ConditionRolloutInProgress, metav1.ConditionFalse},
		{v1alpha1.ConditionRolloutFailed, metav1.ConditionFalse},
		{v1alpha1.ConditionRolloutStalled, metav1.ConditionFalse},
	} {
		if c := conditions.Get(all, want.condition); c != nil && c.Status != want.status {
			bad = append(bad, fmt.Sprintf("%s: %s is %s, %s: %s", name, c.Type, c.Status, c.Reason, c.Message))
		}
	}
	for _, c := range all {
		failed := []string{v1alpha1.ReasonPlanFailed, v1alpha1.ReasonUpdateFailed, v1alpha1.ReasonSpecInvalid, v1alpha1.ReasonConfigRefused}
		if slices.Contains(failed, c.Reason) {
			bad = append(bad, fmt.Sprintf("%s: %s is %s, %s: %s", name, c.Type, c.Status, c.Reason, c.Message))
		}
	}
	return bad
}
