package nodetask

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/task"
)

// updateImage gives the node the image. What follows is the node's own update.
func updateImage(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	image := env.Task.Spec.UpdateNodeImage.Image
	if env.Node.Spec.Image == image {
		return plan.Done("")
	}
	node := env.Node.DeepCopy()
	node.Spec.Image = image
	patch := client.MergeFromWithOptions(env.Node, client.MergeFromWithOptimisticLock{})
	if err := env.Client.Patch(ctx, node, patch, client.FieldOwner(v1alpha1.FieldOwnerSeiNodeTask)); err != nil {
		return task.APIOutcome("changing the image of SeiNode "+node.Name, err)
	}
	env.Wrote(node)
	env.Node = node
	return plan.Done("")
}

// awaitImage waits until the node is ready with the image.
func awaitImage(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	image, node := env.Task.Spec.UpdateNodeImage.Image, env.Node
	if node.Spec.Image != image {
		return plan.Terminal(v1alpha1.ReasonSuperseded, fmt.Errorf("somebody has changed the image of SeiNode %s to %s", node.Name, node.Spec.Image))
	}
	ready := conditions.Get(node.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil || node.Status.ObservedGeneration != node.Generation || ready.ObservedGeneration != node.Generation:
		return plan.Wait(v1alpha1.ReasonOutOfDate, "waiting for the node to take up the image", 0)
	case ready.Status != metav1.ConditionTrue:
		return plan.Wait(ready.Reason, fmt.Sprintf("waiting for the node to be ready: %s", ready.Message), 0)
	case node.Status.CurrentImage != image:
		return plan.Wait(v1alpha1.ReasonOutOfDate, "waiting for the node's pod to run the image", 0)
	}
	env.Outputs = &v1alpha1.TaskOutputs{UpdateNodeImage: &v1alpha1.UpdateNodeImageOutputs{AppliedImage: image}}
	return plan.Done("the node is ready with image " + image)
}
