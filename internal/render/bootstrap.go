package render

import (
	"errors"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// haltExitCodes are how seid ends, besides 0, when it has reached its halt height:
// it sends itself SIGINT and SIGTERM and dies of the one that it does not catch.
const haltExitCodes = "130,143"

// BootstrapJob runs the bootstrap image on the node's volume up to the target
// height and ends. Its pod answers to the name of the node's own pod, which does
// not exist at that time. The Job is tried once and stays until it is deleted,
// so that its end is always seen.
func BootstrapJob(in Input) (*batchv1ac.JobApplyConfiguration, error) {
	spec, err := bootstrapPod(in)
	if err != nil {
		return nil, fmt.Errorf("rendering bootstrap job %s/%s: %w", in.Node.Namespace, BootstrapJobName(in.Node), err)
	}
	labels := bootstrapLabels(in.Node)
	return batchv1ac.Job(BootstrapJobName(in.Node), in.Node.Namespace).
		WithLabels(labels).
		WithOwnerReferences(ownerReference(in.Node)).
		WithSpec(batchv1ac.JobSpec().
			WithBackoffLimit(0).
			// Never two pods on one volume, not even while one is ending.
			WithPodReplacementPolicy(batchv1.Failed).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithAnnotations(map[string]string{annotationDoNotDisrupt: "true"}).
				WithSpec(spec))), nil
}

func bootstrapPod(in Input) (*corev1ac.PodSpecApplyConfiguration, error) {
	source, err := bootstrapSource(in.Node)
	if err != nil {
		return nil, err
	}
	p := pod{
		Input:      in,
		chainImage: source.BootstrapImage,
		gateFlags:  []string{"--ok-exit=" + haltExitCodes},
		seidFlags:  []string{"--halt-height", strconv.FormatInt(source.S3.TargetHeight, 10)},
	}
	spec, err := p.spec(p.seidContainer())
	if err != nil {
		return nil, err
	}
	spec.WithRestartPolicy(corev1.RestartPolicyNever).
		WithHostname(PodName(in.Node)).
		WithSubdomain(in.Node.Name)
	if err := CheckBootstrapSecrets(spec, in.Node); err != nil {
		return nil, err
	}
	return spec, nil
}

func bootstrapSource(node *v1alpha1.SeiNode) (*v1alpha1.SnapshotSource, error) {
	source := node.Spec.Snapshot()
	switch {
	case source == nil || source.BootstrapImage == "":
		return nil, errors.New("the node names no bootstrapImage")
	case source.S3 == nil || source.S3.TargetHeight < 1:
		return nil, errors.New("bootstrapImage needs snapshot.s3.targetHeight")
	}
	return source, nil
}
