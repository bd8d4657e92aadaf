package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
)

func TestPod_Scheduling_NodeOverModeOverDefault(t *testing.T) {
	in := input(archive())
	in.Platform.Scheduling = platform.PerMode[platform.Scheduling]{
		Default: platform.Scheduling{
			NodeSelector:       map[string]string{"pool": "nodes", "arch": "amd64"},
			Tolerations:        []corev1.Toleration{{Key: "sei", Operator: corev1.TolerationOpExists}},
			PriorityClassName:  "normal",
			ServiceAccountName: "seid",
			Affinity:           &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}, PodAffinity: &corev1.PodAffinity{}},
		},
		Archive: &platform.Scheduling{NodeSelector: map[string]string{"pool": "archive"}},
		Seed:    &platform.Scheduling{PriorityClassName: "low"},
	}
	spread := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway}
	in.Node.Spec.Scheduling = &v1alpha1.SchedulingSpec{
		NodeSelector: map[string]string{"disk": "big"},
		Tolerations: []corev1.Toleration{
			{Key: "own", Operator: corev1.TolerationOpExists}, {Key: "sei", Operator: corev1.TolerationOpExists},
		},
		Affinity:                  &corev1.Affinity{PodAffinity: nil, PodAntiAffinity: &corev1.PodAntiAffinity{}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{spread},
		PriorityClassName:         "high",
	}
	got := podSpec(t, in)
	want := corev1.PodSpec{
		NodeSelector: map[string]string{"pool": "archive", "arch": "amd64", "disk": "big"},
		Tolerations: []corev1.Toleration{
			{Key: "sei", Operator: corev1.TolerationOpExists}, {Key: "own", Operator: corev1.TolerationOpExists},
		},
		Affinity: &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{}, PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{},
		},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{spread},
		PriorityClassName:         "high",
		ServiceAccountName:        "seid",
	}
	placed := corev1.PodSpec{
		NodeSelector: got.NodeSelector, Tolerations: got.Tolerations, Affinity: got.Affinity,
		TopologySpreadConstraints: got.TopologySpreadConstraints, PriorityClassName: got.PriorityClassName, ServiceAccountName: got.ServiceAccountName,
	}
	if diff := cmp.Diff(want, placed); diff != "" {
		t.Errorf("scheduling (-want +got):\n%s", diff)
	}
}

// Every pod of a node has the account of its mode, and mounts no token of it by itself.
func TestPod_ServiceAccount_IsThatOfItsMode(t *testing.T) {
	account := func(name string) *platform.Scheduling { return &platform.Scheduling{ServiceAccountName: name} }
	accounts := platform.PerMode[platform.Scheduling]{
		Default: *account("default-nodes"), FullNode: account("full"), Archive: account("archive"), Replayer: account("replayer"), Validator: account("validator"),
	}
	for want, n := range map[string]*v1alpha1.SeiNode{
		"full": fullNode(), "archive": archive(), "replayer": replayer(), "validator": validator(), "default-nodes": seed(),
	} {
		in := input(n)
		in.Platform.Scheduling = accounts
		pods := map[string]corev1.PodSpec{"the pod": podSpec(t, in), "the pod that pulls ahead": pullPod(t, in).Spec}
		if want == "replayer" {
			pods["the bootstrap Job"] = job(t, in).Spec.Template.Spec
		}
		for what, spec := range pods {
			if spec.ServiceAccountName != want || spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
				t.Errorf("%s of a node with account %s has %q, automount %v", what, want, spec.ServiceAccountName, spec.AutomountServiceAccountToken)
			}
		}
	}
}

func TestPod_Scheduling_NothingAskedFor_NothingRendered(t *testing.T) {
	alone := fullNode()
	delete(alone.Labels, v1alpha1.LabelDeployment) // those of a fleet are spread
	got := podSpec(t, input(alone))
	if got.NodeSelector != nil || got.Tolerations != nil || got.Affinity != nil || got.TopologySpreadConstraints != nil || got.PriorityClassName != "" {
		t.Errorf("got %+v, want NodeSelector nil, Tolerations nil, Affinity nil, TopologySpreadConstraints nil and PriorityClassName empty", got)
	}
}

func TestPod_Spread_OfAFleet_IsAWishThatCanBeReplaced(t *testing.T) {
	node, alone := fullNode(), fullNode()
	node.Labels = map[string]string{v1alpha1.LabelDeployment: "rpc"}
	delete(alone.Labels, v1alpha1.LabelDeployment)
	soft := func(key string) corev1.TopologySpreadConstraint {
		return corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelDeployment: "rpc"}},
		}
	}
	own := corev1.TopologySpreadConstraint{MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule}
	platforms := input(node)
	platforms.Platform.Scheduling.Default.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{own}
	asked := input(node.DeepCopy())
	asked.Node.Spec.Scheduling = &v1alpha1.SchedulingSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{own}}
	for name, tc := range map[string]struct {
		in   render.Input
		want []corev1.TopologySpreadConstraint
	}{
		"nobody says otherwise": {input(node), []corev1.TopologySpreadConstraint{soft(corev1.LabelHostname), soft(corev1.LabelTopologyZone)}},
		"the platform does":     {platforms, []corev1.TopologySpreadConstraint{own}},
		"the spec does":         {asked, []corev1.TopologySpreadConstraint{own}},
		"no fleet":              {input(alone), nil},
	} {
		if diff := cmp.Diff(tc.want, podSpec(t, tc.in).TopologySpreadConstraints); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The default is the operator's and not the spec's, so an operator that begins to spread fleets
// restarts none of them.
func TestPod_Spread_IsNoPartOfWhatTheSpecAsksFor(t *testing.T) {
	byDefault, replaced := input(fullNode()), input(fullNode())
	replaced.Platform.Scheduling.Default.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: corev1.ScheduleAnyway}}
	template, spec := hashes(t, byDefault)
	otherTemplate, otherSpec := hashes(t, replaced)
	if spec != otherSpec || template == otherTemplate {
		t.Errorf("spec %s and %s, template %s and %s", spec, otherSpec, template, otherTemplate)
	}
}
