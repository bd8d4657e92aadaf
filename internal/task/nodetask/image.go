package nodetask

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/task"
)

// updateImage gives the node the image, in the field that its image comes from now. What follows is
// the node's own update.
func updateImage(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	image := env.Task.Spec.UpdateNodeImage.Image
	if *node.ImageInForce(env.Node) == image {
		return plan.Done("")
	}
	changed := env.Node.DeepCopy()
	*node.ImageInForce(changed) = image
	patch := client.MergeFromWithOptions(env.Node, client.MergeFromWithOptimisticLock{})
	if err := env.Client.Patch(ctx, changed, patch, client.FieldOwner(v1alpha1.FieldOwnerSeiNodeTask)); err != nil {
		return task.APIOutcome("changing the image of SeiNode "+changed.Name, err)
	}
	env.Wrote(changed)
	env.Node = changed
	return plan.Done("")
}

// awaitImage waits until the node is ready with the image. A node is Ready only while its pod is made
// from the whole spec, image included. The pod's own image is not compared: a webhook may have written
// it differently, for example with a registry mirror or a digest.
func awaitImage(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	image, n := env.Task.Spec.UpdateNodeImage.Image, env.Node
	if wanted := *node.ImageInForce(n); wanted != image {
		return plan.Terminal(v1alpha1.ReasonSuperseded, fmt.Errorf("the image of SeiNode %s was meanwhile changed to %s", n.Name, wanted))
	}
	ready := conditions.Get(n.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil || n.Status.ObservedGeneration != n.Generation || ready.ObservedGeneration != n.Generation:
		return plan.Wait(v1alpha1.ReasonOutOfDate, "waiting for the node to update to the image", 0)
	case ready.Status != metav1.ConditionTrue:
		return plan.Wait(ready.Reason, fmt.Sprintf("waiting for the node to be ready: %s", ready.Message), 0)
	}
	env.Outputs = &v1alpha1.TaskOutputs{UpdateNodeImage: &v1alpha1.UpdateNodeImageOutputs{AppliedImage: image}}
	return plan.Done("the node is ready with image " + image)
}
