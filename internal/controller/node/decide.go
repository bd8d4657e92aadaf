package node

import (
	"fmt"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/peers"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/seid/config"
)

// decide works out what is wanted and asks the domain what to do about it.
func (r *Reconciler) decide(s *scope) {
	s.facts = s.domainFacts()
	s.chooseImage()
	s.target = r.targets.of(s.node, s.observed.Peers, s.input.Image, s.renderTarget)
	s.target.Upgrade = s.upgrade.Because
	s.decision = domain.Decide(domain.Input{
		Facts: s.facts, Target: s.target, Plan: s.activePlan(), Last: s.node.Status.LastPlan, Now: s.now,
	})
	s.comeBackIn(s.decision.RecheckAfter)
	s.decidePull()
}

// retryAsked tells whether another try was asked for since the last one, on the node and on its fleet.
func (s *scope) retryAsked() (ofNode, ofFleet bool) {
	node, fleet := s.node.Annotations[v1alpha1.AnnotationRetry], s.node.Annotations[v1alpha1.AnnotationFleetRetry]
	return node != "" && node != s.node.Status.RetriedFor, fleet != "" && fleet != s.node.Status.RetriedForFleet
}

// noteRetry notes that what was asked for is being done.
func (s *scope) noteRetry() {
	s.node.Status.RetriedFor = s.node.Annotations[v1alpha1.AnnotationRetry]
	s.node.Status.RetriedForFleet = s.node.Annotations[v1alpha1.AnnotationFleetRetry]
}

// renderTarget renders what the spec asks for. What cannot be rendered is a problem of the spec
// and leaves the rest of the target as it is.
func (s *scope) renderTarget() domain.Target {
	spec := &s.node.Spec
	ofNode, ofFleet := s.retryAsked()
	t := domain.Target{
		What: describe(spec), Restart: s.node.Annotations[v1alpha1.AnnotationRestart], Paused: spec.Paused,
		Retry: ofNode || ofFleet, RetryNode: ofNode,
		SigningKey: spec.SigningKeySecret() != "", NodeKey: spec.NodeKeySecret() != "", Keyring: spec.OperatorKeyringSecret() != nil,
		PublishKeep: spec.PublishKeep(), NoSnapshotBucket: s.input.Platform.Buckets.Snapshot == "",
		Signs: spec.Signs(), Ceremony: spec.Validator != nil && spec.Validator.GenesisCeremony != nil,
	}
	t.Image, t.Generation, t.PreparationHash = s.input.Image, s.node.Generation, render.PreparationHash(s.node)
	if source := spec.Snapshot(); source != nil {
		t.Snapshot, t.Bootstrap = domain.PeerSnapshot, source.BootstrapImage != ""
		if source.S3 != nil {
			t.Snapshot = domain.BucketSnapshot
		}
	}
	s.renderTemplate(&t)
	s.renderResultExport(&t)
	if err := config.CheckOverrides(spec.Overrides); err != nil {
		t.ConfigProblem = fmt.Sprintf("spec.overrides: %v", err)
		return t
	}
	if t.ConfigProblem = peers.Refused(s.node, s.input.Platform.Peers.Label); t.ConfigProblem != "" {
		return t
	}
	t.ConfigHash = s.config().Hash()
	return t
}

func (s *scope) renderTemplate(t *domain.Target) {
	sts, err := s.statefulSet()
	if err != nil {
		t.TemplateProblem = err.Error()
		return
	}
	template := sts.Spec.Template
	t.SidecarImage = sidecarImage(template.Spec)
	t.PodTemplateHash, t.SpecHash = render.TemplateHash(template.Annotations), render.SpecHash(template.Annotations)
}

func (s *scope) renderResultExport(t *domain.Target) {
	export, reason, problem := render.ResultExport(s.input)
	t.ResultExport = domain.ResultExport{Reason: reason, Problem: problem}
	if export != nil {
		t.ResultExport.Hash = export.Hash
	}
}

// config is the configuration that the spec asks for.
func (s *scope) config() render.Config { return render.NodeConfig(s.input, s.observed.Peers) }

// describe says what a node is.
func describe(spec *v1alpha1.SeiNodeSpec) string {
	mode, _ := domain.ModeOf(spec) // one that is not known is a problem of the template
	return fmt.Sprintf("%s of %s", mode.Words, spec.ChainID)
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
