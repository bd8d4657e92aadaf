package task

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
)

// Reasons of waits while a bootstrap Job runs.
const (
	ReasonBootstrapRunning = "BootstrapRunning"
	ReasonBootstrapFailed  = "BootstrapFailed"
)

// deployBootstrapJob starts the Job that replays to the wanted height. There is no
// StatefulSet yet: the two would fight over the volume.
func deployBootstrapJob(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	if job := env.Observed.Job; job != nil {
		if !metav1.IsControlledBy(job, env.Node) {
			return plan.Wait(ReasonForeignObject, fmt.Sprintf("Job %s belongs to something else: delete or rename it", job.Name), someTime)
		}
		if job.DeletionTimestamp != nil {
			return plan.Wait(ReasonForeignObject, fmt.Sprintf("waiting for the old Job %s to be deleted", job.Name), 0)
		}
		if failedBefore(job, env.Node.Status.Plan) {
			return removeJob(ctx, env, job)
		}
		return plan.Done("")
	}
	if problem := env.Facts.CertificateProblem; problem != "" {
		return plan.Wait(ReasonNoCertificate, problem, someTime)
	}
	want, err := render.BootstrapJob(env.Render)
	if err != nil {
		return plan.Terminal(ReasonRefused, fmt.Errorf("rendering the bootstrap Job: %w", err))
	}
	if err := env.Client.Apply(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNode), client.ForceOwnership); err != nil {
		return APIOutcome("applying Job "+*want.Name, err)
	}
	job, err := render.Convert[batchv1.Job](want)
	if err != nil {
		return plan.Terminal(ReasonRefused, err)
	}
	env.Observed.Job = job
	env.Wrote(job)
	return plan.Done("")
}

// awaitBootstrap waits for the Job's end.
func awaitBootstrap(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	job := env.Observed.Job
	if job == nil {
		return plan.Terminal(ReasonBootstrapFailed, fmt.Errorf("the Job %s was deleted before it completed", render.BootstrapJobName(env.Node)))
	}
	for _, c := range job.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			env.Facts.Bootstrapped = true
			return plan.Done("")
		case batchv1.JobFailed:
			return plan.Terminal(ReasonBootstrapFailed, fmt.Errorf("the Job %s failed: %s: see kubectl logs job/%s -c %s",
				job.Name, c.Message, job.Name, render.ContainerSeid))
		}
	}
	return plan.Wait(ReasonBootstrapRunning, "the bootstrap image replays the chain to its target height", 0)
}

// teardownBootstrap removes the Job and waits until its pod has released the volume. Nothing but the
// Job tells that it has reached its height, so that is stored first: an operator that dies in between
// would leave a node whose successor replays the chain once more.
func teardownBootstrap(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	if job := env.Observed.Job; job != nil {
		if env.Facts.Bootstrapped && !env.Node.Status.Bootstrapped {
			return plan.Wait(ReasonBootstrapRunning, "the bootstrap Job is done and about to be removed", soon)
		}
		return removeJob(ctx, env, job)
	}
	if IsBootstrapPod(env.Observed.Pod) {
		return plan.Wait(ReasonPodTerminating, "waiting for the bootstrap pod to terminate", shortly)
	}
	return plan.Done("")
}

// removeJob deletes a Job with its pods. The Job stays visible until they are gone.
func removeJob(ctx context.Context, env *Env, job *batchv1.Job) plan.Outcome {
	if job.DeletionTimestamp == nil {
		err := env.Client.Delete(ctx, job, client.Preconditions{UID: &job.UID}, client.PropagationPolicy(metav1.DeletePropagationForeground))
		if client.IgnoreNotFound(err) != nil {
			return APIOutcome("deleting Job "+job.Name, err)
		}
	}
	return plan.Wait(ReasonPodTerminating, "waiting for the bootstrap pod to terminate", shortly)
}

// failedBefore reports whether a Job failed in an earlier plan. The plan that is
// running now makes another.
func failedBefore(job *batchv1.Job, p *v1alpha1.TaskPlan) bool {
	if p == nil || p.StartedAt == nil || !job.CreationTimestamp.Before(p.StartedAt) {
		return false
	}
	return JobFailed(job)
}

// JobFailed reports whether a Job has given up.
func JobFailed(job *batchv1.Job) bool { return jobIs(job, batchv1.JobFailed) }

// JobComplete reports whether a Job has done what it was made for.
func JobComplete(job *batchv1.Job) bool { return jobIs(job, batchv1.JobComplete) }

func jobIs(job *batchv1.Job, condition batchv1.JobConditionType) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == condition && c.Status == corev1.ConditionTrue
	})
}

// IsBootstrapPod reports whether a pod belongs to a bootstrap Job.
func IsBootstrapPod(pod *corev1.Pod) bool {
	return pod != nil && pod.Labels[v1alpha1.LabelComponent] == v1alpha1.ComponentBootstrap
}
