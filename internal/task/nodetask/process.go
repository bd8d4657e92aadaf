package nodetask

import (
	"context"
	"errors"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task"
)

// restartSeid restarts the chain process, once: which process runs is stored in the plan before the
// sidecar is asked, so that a sidecar that has lost its tasks is not asked for another restart.
// Behind a closed gate there is none to restart.
func restartSeid(ctx context.Context, env *Env, step *v1alpha1.PlannedTask) plan.Outcome {
	document, wait, ok := look(ctx, env)
	if !ok {
		return wait
	}
	switch {
	case step.SubmittedAt != nil:
	case document.Gate.State == api.GateHeld:
		return plan.Wait(v1alpha1.ReasonGateClosed, "an operation holds the node's start gate closed; a SeiNodeTask of kind MarkReady opens it", someTime)
	case document.Gate.State == api.GateClosed:
		return plan.Wait(v1alpha1.ReasonGateClosed, "waiting for the node's start gate to be opened", shortly)
	case step.Params == nil:
		return noteProcess(step, document.Seid)
	}
	if otherProcess(step, document.Seid) {
		known, err := env.Sidecar.Get(ctx, step.ID, 0)
		if errors.Is(err, sidecar.ErrNotFound) || err == nil && known.Status == api.TaskFailed {
			return awaitAnswer(document)
		}
	}
	return onSidecar(api.RestartSeid, func(*Env, *v1alpha1.PlannedTask) (any, error) {
		return wire.RestartSeid{Drain: task.Drain(env.Node, env.Objects.Pod, document.APILevel)}, nil
	}, restarted)(ctx, env, step)
}

func restarted(*Env, api.TaskResult) (string, error) { return "seid was restarted", nil }

// markReady opens the start gate for the configuration that is on disk and the key that is reserved
// for the node. The sidecar refuses if it has anything else.
func markReady(ctx context.Context, env *Env, step *v1alpha1.PlannedTask) plan.Outcome {
	document, wait, ok := look(ctx, env)
	if !ok {
		return wait
	}
	if document.Gate.State == api.GateOpen && step.SubmittedAt == nil {
		return plan.Done("the start gate is open")
	}
	if document.Home.ConfigHash == "" {
		return plan.Terminal(v1alpha1.ReasonTaskFailed,
			errors.New("seid is not started: the operator did not write the configuration on the node's volume; "+
				"delete the SeiNodeTask or the mark-not-ready task that holds the start gate, and the node's plan writes it"))
	}
	return onSidecar(api.MarkReady, func(*Env, *v1alpha1.PlannedTask) (any, error) {
		return task.Opening(env.Node, document.Home.ConfigHash, env.Node.Status.ConsensusAddress, env.Platform.Sidecar.StandingPermission.Duration), nil
	}, opened)(ctx, env, step)
}

func opened(*Env, api.TaskResult) (string, error) { return "the start gate is open", nil }

// look asks the sidecar for the node's document.
func look(ctx context.Context, env *Env) (api.Node, plan.Outcome, bool) {
	if wait, silent := noAnswer(env); silent {
		return api.Node{}, wait, false
	}
	document, err := env.Sidecar.Node(ctx)
	if errors.Is(err, sidecar.ErrNotFound) {
		return api.Node{}, plan.Terminal(v1alpha1.ReasonSidecarRefuses, errors.New("the sidecar in the node's pod is too old for this: "+
			"set the annotation "+v1alpha1.AnnotationRestart+" of the SeiNode to replace the pod, then create the task again")), false
	}
	if err != nil {
		return api.Node{}, task.SidecarError("", err, shortly), false
	}
	return document, plan.Outcome{}, true
}
