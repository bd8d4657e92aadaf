package fleet

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// picture is the state of a node: its spec and conditions, the objects made from it, and what is on
// its volume and runs.
type picture struct {
	Spec        v1alpha1.SeiNodeSpec
	Phase       v1alpha1.SeiNodePhase
	Conditions  map[string]metav1.ConditionStatus
	StatefulSet appsv1.StatefulSetSpec
	Pod         map[string]string
	Overrides   map[string]string
	Seid        string
	RestartDue  []string
}

// picture describes a node without its name and UID, so that nodes can be compared.
func (s *storm) picture(fleet string, ordinal int) string {
	s.T.Helper()
	node := s.AwaitNode(child(fleet, ordinal), up)
	set, pod := &appsv1.StatefulSet{}, &corev1.Pod{}
	s.Get(node.Name, set)
	s.Get(node.Name+"-0", pod)
	process := s.Sidecars.Process(s.Key(node.Name))
	p := picture{
		Spec: node.Spec, Phase: node.Status.Phase, Conditions: map[string]metav1.ConditionStatus{}, StatefulSet: set.Spec, Pod: map[string]string{},
		Overrides: s.Sidecars.Disk(s.Key(node.Name)).Overrides, Seid: string(process.State), RestartDue: process.RestartDue,
	}
	for _, c := range node.Status.Conditions {
		p.Conditions[c.Type] = c.Status
	}
	for _, c := range pod.Spec.Containers {
		p.Pod[c.Name] = c.Image
	}
	// Hashes of the template, name and all.
	delete(p.StatefulSet.Template.Annotations, render.AnnotationSpecHash)
	delete(p.StatefulSet.Template.Annotations, render.AnnotationTemplateHash)
	delete(p.StatefulSet.Template.Labels, v1alpha1.LabelDeploymentOrdinal)
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		s.T.Fatal(err)
	}
	return strings.NewReplacer(string(node.UID), "UID", node.Name, "NODE", `"`+fleet+`"`, `"FLEET"`).Replace(string(text))
}

// fromScratch is the picture of a node that was made from the template and has seen nothing else.
func (s *storm) fromScratch(image string) string {
	s.T.Helper()
	const name = "scratch"
	if s.scratch[image] == "" {
		fresh := unavailable(rpc(name, 1), 1, 600)
		fresh.Spec.Template = quiet(image)
		s.bringUp(fresh)
		s.scratch[image] = s.picture(name, 0)
		s.Delete(s.fleet(name))
		envtest.WaitGone[v1alpha1.SeiNodeDeployment](s.T, s.Env, s.NS, name)
		envtest.WaitGone[corev1.Pod](s.T, s.Env, s.NS, child(name, 0)+"-0")
	}
	return s.scratch[image]
}

// sameAsFromScratch wants the nodes to be what those of a new fleet are, whatever was asked for
// before.
func (s *storm) sameAsFromScratch(snd *v1alpha1.SeiNodeDeployment) {
	s.T.Helper()
	want := s.fromScratch(snd.Spec.Template.Spec.Image)
	ordinals := fleet.Ordinals(snd)
	for i := range mostNodes {
		if !slices.Contains(ordinals, i) {
			envtest.WaitGone[v1alpha1.SeiNode](s.T, s.Env, s.NS, child(stormy, i))
			continue
		}
		s.becomes(want, i)
	}
}

// becomes wants a node to be as in a picture, once the last look at it has ended.
func (s *storm) becomes(want string, ordinal int) {
	s.T.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); ; <-tick.C {
		is := s.picture(stormy, ordinal)
		if is == want {
			return
		}
		if time.Since(began) > envtest.WaitTimeout {
			s.T.Errorf("%s is not what a new node would be (-new +this):\n%s", child(stormy, ordinal), cmp.Diff(want, is))
			return
		}
	}
}
