package render_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
)

func quantity(s string) resource.Quantity { return resource.MustParse(s) }

func hashes(t *testing.T, in render.Input) (template, spec string) {
	t.Helper()
	annotations := statefulSet(t, in).Spec.Template.Annotations
	template, spec = render.TemplateHash(annotations), render.SpecHash(annotations)
	if len(template) != 16 || len(spec) != 16 {
		t.Fatalf("hashes %q and %q", template, spec)
	}
	return template, spec
}

// specChanges edits every field of a SeiNode's spec and says whether the pod
// has to be replaced for it.
var specChanges = []struct {
	field    string
	replaces bool
	change   func(*v1alpha1.SeiNodeSpec)
}{
	{"chainId", true, func(s *v1alpha1.SeiNodeSpec) { s.ChainID = "atlantic-2" }},
	{"image", true, func(s *v1alpha1.SeiNodeSpec) { s.Image = "example.com/seid:v7" }},
	{"upgrades", false, func(s *v1alpha1.SeiNodeSpec) {
		s.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v7", Image: "example.com/seid:v7"}}
	}},
	{"peers", false, func(s *v1alpha1.SeiNodeSpec) { s.Peers = []v1alpha1.PeerSource{{}} }},
	{"overrides", false, func(s *v1alpha1.SeiNodeSpec) { s.Overrides = map[string]string{"evm.http_port": "1"} }},
	{"sidecar", true, func(s *v1alpha1.SeiNodeSpec) { s.Sidecar = &v1alpha1.SidecarSpec{Image: "other"} }},
	{"sidecar", true, func(s *v1alpha1.SeiNodeSpec) { s.Sidecar = &v1alpha1.SidecarSpec{Port: 7000} }},
	{"sidecar", true, func(s *v1alpha1.SeiNodeSpec) {
		s.Sidecar = &v1alpha1.SidecarSpec{Resources: &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: quantity("2")}}}
	}},
	{"sidecar", false, func(s *v1alpha1.SeiNodeSpec) { s.Sidecar = &v1alpha1.SidecarSpec{Port: 7777} }},
	{"podLabels", true, func(s *v1alpha1.SeiNodeSpec) { s.PodLabels = map[string]v1alpha1.LabelValue{"a": "b"} }},
	{"podLabels", false, func(s *v1alpha1.SeiNodeSpec) { s.PodLabels = map[string]v1alpha1.LabelValue{v1alpha1.LabelNode: "x"} }},
	{"podAnnotations", true, func(s *v1alpha1.SeiNodeSpec) { s.PodAnnotations = map[string]v1alpha1.AnnotationValue{"a": "b"} }},
	{"podAnnotations", false, func(s *v1alpha1.SeiNodeSpec) { s.PodAnnotations = map[string]v1alpha1.AnnotationValue{} }},
	{"podAnnotations", false, func(s *v1alpha1.SeiNodeSpec) {
		s.PodAnnotations = map[string]v1alpha1.AnnotationValue{"karpenter.sh/do-not-disrupt": "true"}
	}},
	{"podAnnotations", true, func(s *v1alpha1.SeiNodeSpec) {
		s.PodAnnotations = map[string]v1alpha1.AnnotationValue{"karpenter.sh/do-not-disrupt": "false"}
	}},
	{"imagePullSecrets", true, func(s *v1alpha1.SeiNodeSpec) { s.ImagePullSecrets = []v1alpha1.ImagePullSecret{{Name: "x"}} }},
	{"imagePullSecrets", false, func(s *v1alpha1.SeiNodeSpec) { s.ImagePullSecrets = []v1alpha1.ImagePullSecret{} }},
	{"extraEnv", true, func(s *v1alpha1.SeiNodeSpec) { s.ExtraEnv = []v1alpha1.ExtraEnvVar{{Name: "GOGC", Value: "50"}} }},
	{"extraEnv", false, func(s *v1alpha1.SeiNodeSpec) { s.ExtraEnv = []v1alpha1.ExtraEnvVar{} }},
	{"extraVolumes", true, func(s *v1alpha1.SeiNodeSpec) {
		s.ExtraVolumes = []v1alpha1.ExtraVolume{{Name: "x", EmptyDir: &v1alpha1.ExtraEmptyDir{}}}
	}},
	{"extraVolumes", false, func(s *v1alpha1.SeiNodeSpec) { s.ExtraVolumes = []v1alpha1.ExtraVolume{} }},
	{"extraVolumeMounts", true, func(s *v1alpha1.SeiNodeSpec) {
		s.ExtraVolumeMounts = []v1alpha1.ExtraVolumeMount{{Name: "x", MountPath: "/mnt/x"}}
	}},
	{"extraVolumeMounts", false, func(s *v1alpha1.SeiNodeSpec) { s.ExtraVolumeMounts = []v1alpha1.ExtraVolumeMount{} }},
	{"dataVolume", true, func(s *v1alpha1.SeiNodeSpec) {
		s.DataVolume = &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: "x"}}
	}},
	{"dataVolume", false, func(s *v1alpha1.SeiNodeSpec) {
		s.DataVolume = &v1alpha1.DataVolumeSpec{Size: new(quantity("1Ti")), Retention: &v1alpha1.VolumeRetention{WhenDeleted: v1alpha1.VolumeRetain}}
	}},
	{"fullNode", true, func(s *v1alpha1.SeiNodeSpec) {
		s.Validator, s.FullNode = nil, &v1alpha1.FullNodeSpec{}
	}},
	{"archive", true, func(s *v1alpha1.SeiNodeSpec) { s.Validator, s.Archive = nil, &v1alpha1.ArchiveSpec{} }},
	{"replayer", true, func(s *v1alpha1.SeiNodeSpec) { s.Validator, s.Replayer = nil, &v1alpha1.ReplayerSpec{} }},
	{"seed", true, func(s *v1alpha1.SeiNodeSpec) { s.Validator, s.Seed = nil, &v1alpha1.SeedSpec{} }},
	{"validator", true, func(s *v1alpha1.SeiNodeSpec) { s.Validator.SigningKey.Secret.SecretName = "x" }},
	{"validator", true, func(s *v1alpha1.SeiNodeSpec) { s.Validator.NodeKey.Secret.SecretName = "x" }},
	{"validator", true, func(s *v1alpha1.SeiNodeSpec) { s.Validator.OperatorKeyring.Secret.SecretName = "x" }},
	{"validator", true, func(s *v1alpha1.SeiNodeSpec) {
		s.Validator.OperatorKeyring.Secret.PassphraseSecretRef.Key = "x"
	}},
	{"validator", true, func(s *v1alpha1.SeiNodeSpec) { s.Validator.OperatorKeyring = nil }},
	{"validator", false, func(s *v1alpha1.SeiNodeSpec) { s.Validator.OperatorKeyring.Secret.KeyName = "x" }},
	{"validator", false, func(s *v1alpha1.SeiNodeSpec) { s.Validator.Snapshot = nil }},
	{"externalAddress", false, func(s *v1alpha1.SeiNodeSpec) { s.ExternalAddress = "x:1" }},
	{"p2pHostPort", true, func(s *v1alpha1.SeiNodeSpec) { s.P2PHostPort = 26656 }},
	{"paused", false, func(s *v1alpha1.SeiNodeSpec) { s.Paused = true }},
	{"resources", true, func(s *v1alpha1.SeiNodeSpec) {
		s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: quantity("4")}}
	}},
	{"scheduling", true, func(s *v1alpha1.SeiNodeSpec) {
		s.Scheduling = &v1alpha1.SchedulingSpec{NodeSelector: map[string]string{"disk": "fast"}}
	}},
	{"scheduling", true, func(s *v1alpha1.SeiNodeSpec) {
		s.Scheduling = &v1alpha1.SchedulingSpec{Tolerations: []corev1.Toleration{{Key: "x", Operator: corev1.TolerationOpExists}}}
	}},
}

func TestHashes_SpecChange_MovesBothOrNeither(t *testing.T) {
	templateBefore, specBefore := hashes(t, input(validator()))
	for _, tt := range specChanges {
		n := validator()
		tt.change(&n.Spec)
		template, spec := hashes(t, input(n))
		if (template != templateBefore) != tt.replaces || (spec != specBefore) != tt.replaces {
			t.Errorf("%s: replaces=%v, but template changed=%v and spec changed=%v",
				tt.field, tt.replaces, template != templateBefore, spec != specBefore)
		}
	}
}

func TestHashes_EveryFieldOfTheSpec_IsInTheTable(t *testing.T) {
	for f := range reflect.TypeFor[v1alpha1.SeiNodeSpec]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		covered := slices.ContainsFunc(specChanges, func(c struct {
			field    string
			replaces bool
			change   func(*v1alpha1.SeiNodeSpec)
		}) bool {
			return c.field == name
		})
		if !covered {
			t.Errorf("specChanges says nothing about spec.%s: does changing it replace the pod?", name)
		}
	}
}

func TestHashes_PlatformChange_MovesTheTemplateOnly(t *testing.T) {
	changes := map[string]func(*platform.Config){
		"sidecar image": func(c *platform.Config) { c.Images.Sidecar = "other" },
		"resources": func(c *platform.Config) {
			c.Resources.Default.Requests = corev1.ResourceList{corev1.ResourceCPU: quantity("9")}
		},
		"scheduling": func(c *platform.Config) { c.Scheduling.Default.PriorityClassName = "high" },
		"buckets":    func(c *platform.Config) { c.Buckets.Snapshot = "gs://elsewhere" },
	}
	templateBefore, specBefore := hashes(t, input(fullNode()))
	for name, change := range changes {
		in := input(fullNode())
		change(in.Platform)
		template, spec := hashes(t, in)
		if template == templateBefore {
			t.Errorf("%s: the template hash stays", name)
		}
		if spec != specBefore {
			t.Errorf("%s: the spec hash moves, so an operator upgrade would restart the node", name)
		}
	}
}

func TestHashes_RestartAnnotation_MovesBothAndReachesThePod(t *testing.T) {
	templateBefore, specBefore := hashes(t, input(fullNode()))
	n := fullNode()
	n.Annotations = map[string]string{v1alpha1.AnnotationRestart: "now", "other": "annotation"}
	template, spec := hashes(t, input(n))
	if template == templateBefore || spec == specBefore {
		t.Error("asking for a restart changes nothing")
	}
	if got := render.RestartValue(statefulSet(t, input(n)).Spec.Template.Annotations); got != "now" {
		t.Errorf("pod says %q", got)
	}
}

func TestHashes_SameMeaningInOtherWords_StayTheSame(t *testing.T) {
	withCPU := func(cpu string) render.Input {
		n := fullNode()
		n.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: quantity(cpu)}}
		return input(n)
	}
	templateA, specA := hashes(t, withCPU("1"))
	templateB, specB := hashes(t, withCPU("1000m"))
	if templateA != templateB || specA != specB {
		t.Error("1 and 1000m are told apart")
	}
}

// A label of our domain would put the pod into somebody's Service. Nodes that were admitted with
// one lose it with their next pod, and are not restarted for it.
func TestPodLabels_OfOurDomain_AreLeftOutOfThePod(t *testing.T) {
	n := fullNode()
	n.Labels, n.Spec.FullNode = nil, &v1alpha1.FullNodeSpec{}
	n.Spec.PodLabels = map[string]v1alpha1.LabelValue{"team": "infra", v1alpha1.LabelDeployment: "theirs", v1alpha1.LabelSnapshotPublish: "true", "sei.io/x": "y"}
	template := statefulSet(t, input(n)).Spec.Template
	want := map[string]string{"team": "infra", v1alpha1.LabelNode: n.Name, v1alpha1.LabelChain: n.Spec.ChainID, v1alpha1.LabelRole: v1alpha1.RoleNode}
	if diff := cmp.Diff(want, template.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	n.Spec.PodLabels["sei.io/x"] = "z"
	if again := statefulSet(t, input(n)).Spec.Template; render.SpecHash(again.Annotations) == render.SpecHash(template.Annotations) {
		t.Error("the hash of the spec does not cover the labels that it asks for")
	}
}
