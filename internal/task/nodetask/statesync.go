package nodetask

import (
	"context"
	"errors"
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task"
)

// holdGate closes the gate and keeps it closed, so that the node's own plans stay away. It does not
// begin before there is somebody to sync from: from here on the node is down.
func holdGate(ctx context.Context, env *Env, step *v1alpha1.PlannedTask) plan.Outcome {
	if step.SubmittedAt == nil {
		_, waiting, err := witnesses(ctx, env)
		if err != nil {
			return plan.Wait(task.ReasonAPIUnavailable, err.Error(), shortly)
		}
		if waiting != "" {
			return plan.Wait(task.ReasonNoWitness, waiting, someTime)
		}
	}
	return onSidecar(api.MarkNotReady, noParams, noMessage)(ctx, env, step)
}

// configureStateSync names who to sync from.
func configureStateSync(ctx context.Context, env *Env, step *v1alpha1.PlannedTask) plan.Outcome {
	servers, waiting, err := witnesses(ctx, env)
	if err != nil {
		return plan.Wait(task.ReasonAPIUnavailable, err.Error(), shortly)
	}
	if waiting != "" {
		return plan.Wait(task.ReasonNoWitness, waiting, shortly)
	}
	params := wire.ConfigureStateSync{RPCServers: servers}
	if source := env.Node.Spec.Snapshot(); source != nil {
		params.TrustPeriod, params.BackfillBlocks = source.TrustPeriod, source.BackfillBlocks
	}
	return onSidecar(api.ConfigureStateSync, func(*Env, *v1alpha1.PlannedTask) (any, error) { return params, nil }, noMessage)(ctx, env, step)
}

// witnesses are those of the task, or else those that the node's own first sync would ask.
func witnesses(ctx context.Context, env *Env) (servers []string, waiting string, err error) {
	named := env.Task.Spec.StateSync.RPCServers
	if source := env.Node.Spec.Snapshot(); len(named) == 0 && source != nil {
		named = source.RPCServers
	}
	return task.Witnesses(ctx, env.Client, env.Node, env.Node.Status.ResolvedPeers, named, env.Platform)
}

// awaitSync waits until the node is in sync. Which state it is in meanwhile is what a task that
// runs out of time says.
func awaitSync(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	document, wait, ok := look(ctx, env)
	if !ok {
		return wait
	}
	if sync := document.Sync; sync.State != api.SyncInSync {
		words := fmt.Sprintf("the node is not in sync yet (%s)", sync.State)
		if sync.Message != "" {
			words += ": " + sync.Message
		}
		return plan.Wait(v1alpha1.ReasonNotInSync, words, someTime)
	}
	if env.Task.Spec.StateSync != nil {
		env.Outputs = &v1alpha1.TaskOutputs{StateSync: &v1alpha1.StateSyncOutputs{Height: document.Sync.Height}}
	}
	return plan.Done(fmt.Sprintf("the node is in sync at height %d", document.Sync.Height))
}

func noParams(*Env, *v1alpha1.PlannedTask) (any, error) { return nil, nil }

func noMessage(*Env, api.TaskResult) (string, error) { return "", nil }

// HoldingOf is what a document shows of a node that a task may hold.
func HoldingOf(ctx context.Context, to sidecar.Sidecar, document api.Node, p *v1alpha1.TaskPlan) (operation.Holding, error) {
	hold, reset := plan.Find(p, operation.StepHoldGate), plan.Find(p, operation.StepResetData)
	h := operation.Holding{
		Held:    hold != nil && document.Gate.State == api.GateHeld && document.Gate.HeldBy == hold.ID,
		Emptied: document.Home.Emptied, PartlyDeleted: document.Home.PartlyDeleted,
	}
	if !h.Held || reset == nil {
		return h, nil
	}
	result, err := to.Get(ctx, reset.ID, 0)
	if errors.Is(err, sidecar.ErrNotFound) {
		return h, nil
	}
	h.PartlyDeleted = h.PartlyDeleted || err == nil && !result.Status.Terminal()
	return h, err
}

// MayLetGo reports whether the node of a task that is being deleted can be released: its data
// is as it was. It is for sidecars that cannot tell. They are asked, because an operator may have died before
// it wrote down that the reset was handed over.
func MayLetGo(ctx context.Context, to sidecar.Sidecar, p *v1alpha1.TaskPlan) (bool, error) {
	reset := plan.Find(p, operation.StepResetData)
	if reset == nil {
		return true, nil
	}
	_, err := to.Get(ctx, reset.ID, 0)
	if errors.Is(err, sidecar.ErrNotFound) {
		return reset.SubmittedAt == nil, nil
	}
	return false, err
}

// LetGo opens the gate that a task has closed. The id follows from the task's too.
func LetGo(ctx context.Context, env *Env, p *v1alpha1.TaskPlan) plan.Outcome {
	document, wait, ok := look(ctx, env)
	if !ok || document.Gate.State != api.GateHeld {
		return wait
	}
	step := &v1alpha1.PlannedTask{Type: operation.StepMarkReady, ID: plan.TaskID(p.ID, "let-go", 0, 1)}
	return markReady(ctx, env, step)
}
