package node

import (
	"fmt"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/planner"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/seid/config"
)

// decide works out what is wanted and asks the planner what to do about it. A spec
// that cannot be acted on starts nothing; what runs goes on.
func (r *Reconciler) decide(s *scope) {
	sts, err := render.StatefulSet(s.input)
	if err != nil {
		s.specProblem = err
		return
	}
	s.statefulSet = sts
	if s.specProblem = checkOverrides(s.node.Spec.Overrides); s.specProblem != nil {
		return
	}
	s.config = render.NodeConfig(s.input, s.observed.Peers)
	template := sts.Spec.Template
	s.wanted = planner.Wanted{
		PlanTarget: v1alpha1.PlanTarget{
			Image:           s.node.Spec.Image,
			SidecarImage:    sidecarImage(template.Spec),
			PodTemplateHash: render.TemplateHash(template.Annotations),
			ConfigHash:      s.config.Hash(),
		},
		SpecHash: render.SpecHash(template.Annotations),
		Restart:  s.node.Annotations[v1alpha1.AnnotationRestart],
	}
	s.decision = planner.Decide(planner.Input{
		Node: s.node, Observed: s.observed, Wanted: s.wanted, Now: r.Clock.Now(),
	})
	s.comeBackIn(s.decision.RecheckAfter)
}

// sidecarImage is the sidecar image of a rendered pod.
func sidecarImage(pod *corev1ac.PodSpecApplyConfiguration) string {
	for _, c := range pod.InitContainers {
		if ptr.Deref(c.Name, "") == render.ContainerInstall {
			return ptr.Deref(c.Image, "")
		}
	}
	return ""
}

// checkOverrides finds override keys and values that no node could take, so that a
// typo shows at once and not when the node restarts.
func checkOverrides(overrides map[string]string) error {
	if err := config.CheckOverrides(overrides); err != nil {
		return fmt.Errorf("spec.overrides: %w", err)
	}
	return nil
}
