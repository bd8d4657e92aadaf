package render_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

func TestPods_EveryMode_PassPodSecurityRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	check := func(template corev1.PodTemplateSpec) policy.AggregateCheckResult {
		return policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec))
	}
	for name, n := range everyNode() {
		if result := check(statefulSet(t, input(n)).Spec.Template); !result.Allowed {
			t.Errorf("%s: %s: %s, want Allowed true", name, result.ForbiddenReason(), result.ForbiddenDetail())
		}
		pull := pullPod(t, input(n))
		if result := check(corev1.PodTemplateSpec{ObjectMeta: pull.ObjectMeta, Spec: pull.Spec}); !result.Allowed {
			t.Errorf("%s, pulling: %s: %s", name, result.ForbiddenReason(), result.ForbiddenDetail())
		}
		if source := n.Spec.Snapshot(); source == nil || source.BootstrapImage == "" {
			continue
		}
		if result := check(job(t, input(n)).Spec.Template); !result.Allowed {
			t.Errorf("%s, bootstrap: %s: %s", name, result.ForbiddenReason(), result.ForbiddenDetail())
		}
	}

	// The check itself must be able to fail.
	template := statefulSet(t, input(seed())).Spec.Template
	template.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = new(true)
	if check(template).Allowed {
		t.Error("a pod that may escalate privileges passed")
	}
}

func TestPods_EveryContainer_HasAReadOnlyRootAndNoWayUp(t *testing.T) {
	for name, n := range everyNode() {
		for _, c := range containers(podSpec(t, input(n))) {
			s := c.SecurityContext
			if s == nil || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || s.Capabilities.Drop[0] != "ALL" {
				t.Errorf("%s: container %s has security context %+v", name, c.Name, s)
			}
		}
	}
}

func TestPod_APIToken_IsForTheSidecarAlone(t *testing.T) {
	for name, n := range everyNode() {
		spec := podSpec(t, input(n))
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
			t.Errorf("%s: the token is mounted everywhere", name)
		}
		for _, c := range containers(spec) {
			for _, m := range c.VolumeMounts {
				if m.Name == "api-access" && c.Name != "sidecar" {
					t.Errorf("%s: container %s has the API token", name, c.Name)
				}
			}
		}
	}
}
