package e2e

import (
	"context"
	"encoding/json"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/test/security"
)

// Folders of the prober's pod: tokens that were stolen, and those of its own account.
const (
	stolenTokens = "/stolen"
	ownTokens    = "/own"
)

// startProber sends the prober into the scenario's namespace.
func (s *scenario) startProber(plan strangersPlan) {
	s.t.Helper()
	attempts := make([]security.Attempt, len(plan.tries))
	for i := range plan.tries {
		attempts[i] = plan.tries[i].Attempt
	}
	s.create(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "plan"}, Data: map[string]string{filepath.Base(security.PlanFile): string(encode(s.t, attempts))},
	})
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "stolen"}, Data: plan.stolen})
	s.create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "prober"}, Spec: proberPod(plan.audiences)})
}

// outcomes are what came of the prober's attempts.
func (s *scenario) outcomes(count int) []security.Outcome {
	s.t.Helper()
	pod := &corev1.Pod{}
	await(s.t, inSyncTimeout, "the prober to end", func(context.Context) (bool, string, error) {
		err := s.get("prober", pod)
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed, string(pod.Status.Phase), err
	})
	log, err := s.log(s.t.Context(), pod, "prober", false)
	if err != nil {
		s.t.Fatal(err)
	}
	var outcomes []security.Outcome
	if err := json.Unmarshal(log, &outcomes); err != nil || len(outcomes) != count {
		s.t.Fatalf("%d outcomes of %d attempts, %v; the prober ends with %.1000s", len(outcomes), count, err, log)
	}
	return outcomes
}

// proberPod has tokens of its own account for some audiences, as any pod may ask for.
func proberPod(audiences map[string]string) corev1.PodSpec {
	own := make([]corev1.VolumeProjection, 0, len(audiences))
	for file, audience := range audiences {
		own = append(own, corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: file, Audience: audience}})
	}
	spec := restrictedPod(corev1.Container{
		Name: "prober", Image: imageProber,
		VolumeMounts: []corev1.VolumeMount{
			{Name: "plan", MountPath: filepath.Dir(security.PlanFile), ReadOnly: true},
			{Name: "stolen", MountPath: stolenTokens, ReadOnly: true},
			{Name: "own", MountPath: ownTokens, ReadOnly: true},
		},
	})
	spec.SecurityContext.FSGroup = new(int64(65532))
	spec.RestartPolicy = corev1.RestartPolicyNever
	plan := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "plan"}}
	spec.Volumes = []corev1.Volume{
		{Name: "plan", VolumeSource: corev1.VolumeSource{ConfigMap: plan}},
		{Name: "stolen", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "stolen"}}},
		{Name: "own", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: own}}},
	}
	return spec
}
