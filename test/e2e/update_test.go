package e2e

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/render"
)

const imageMissing = "localhost/sei-operator/seid:missing"

// C8, C9: a change, a rollback, a second change on the way, images that cannot be had and a sidecar that crashes all end
// with what is wanted.
func TestNode_ImageChanged_RunsWhatIsWanted(t *testing.T) {
	s := join(t, "update")
	s.create(s.fullNode("v"))
	s.awaitInSync("v")

	s.setImage("v", imageNext)
	s.awaitImage("v", imageNext)
	s.setImage("v", imageSeid)
	s.awaitImage("v", imageSeid)

	s.setImage("v", imageMissing)
	s.awaitReason("v", v1alpha1.ReasonImagePullFailed)
	s.setImage("v", imageNext)
	s.awaitImage("v", imageNext)

	s.setSidecar("v", "localhost/sei-operator/sidecar:missing")
	s.awaitReason("v", v1alpha1.ReasonImagePullFailed)
	s.setSidecar("v", imageSidecar)
	s.awaitImage("v", imageNext)

	s.setSidecar("v", imageCrasher)
	s.awaitCrashing("v", render.ContainerSidecar, "exit code 42")
	s.setSidecar("v", imageSidecar)
	s.awaitImage("v", imageNext)

	// The second change overtakes the first.
	before := s.pod("v").UID
	s.setImage("v", imageSeid)
	s.awaitOtherPod("v", before)
	s.setImage("v", imageNext)
	s.awaitImage("v", imageNext)
	s.awaitBlocks("v", 2)
}

// A node that stands at its halt height never becomes ready, and is updated all the same (C9).
func TestNode_HaltedAtAHeight_MovesOnWithItsUpdate(t *testing.T) {
	s := join(t, "halt")
	node := s.fullNode("v")
	node.Spec.Overrides = map[string]string{"chain.halt_height": "8"}
	s.create(node)
	await(t, inSyncTimeout, "the node to end at its halt height", func(context.Context) (bool, string, error) {
		pod := &corev1.Pod{}
		err := s.get("v-0", pod)
		return restarts(pod, "seid") > 0, string(pod.Status.Phase), err
	})
	s.edit("v", func(node *v1alpha1.SeiNode) {
		node.Spec.Image = imageNext
		node.Spec.Overrides = nil
	})
	s.awaitImage("v", imageNext)
	s.awaitHeight("v", 12)
	s.awaitBlocks("v", 2)
}

func (s *scenario) setImage(node, image string) {
	s.t.Helper()
	s.edit(node, func(n *v1alpha1.SeiNode) { n.Spec.Image = image })
}

func (s *scenario) setSidecar(node, image string) {
	s.t.Helper()
	s.edit(node, func(n *v1alpha1.SeiNode) { n.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: image} })
}

// awaitImage waits until the node is in sync and its pod, its status and the wish are one.
func (s *scenario) awaitImage(name, image string) {
	s.t.Helper()
	node := s.awaitInSync(name)
	pod := s.pod(name)
	if got := render.SeidImage(pod.Spec); got != image || node.Status.CurrentImage != image {
		s.t.Errorf("the pod runs %s and the status says %s, want %s", got, node.Status.CurrentImage, image)
	}
	if got := render.SidecarImage(pod.Spec); got != imageSidecar || node.Status.CurrentSidecarImage != imageSidecar {
		s.t.Errorf("the pod's sidecar is %s and the status says %s, want %s", got, node.Status.CurrentSidecarImage, imageSidecar)
	}
}

// awaitCrashing waits until the node says which of its containers does not stay up, and how it ends.
func (s *scenario) awaitCrashing(name, container, how string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, name+" to name "+container+", which crashes", func(context.Context) (bool, string, error) {
		node := &v1alpha1.SeiNode{}
		err := s.get(name, node)
		c := conditions.Get(node.Status.Conditions, v1alpha1.ConditionReady)
		named := c != nil && c.Reason == v1alpha1.ReasonPodCrashLooping && strings.Contains(c.Message, container) && strings.Contains(c.Message, how)
		return named, describe(node), err
	})
}

func (s *scenario) awaitOtherPod(node string, than types.UID) {
	s.t.Helper()
	await(s.t, inSyncTimeout, "another pod of "+node, func(context.Context) (bool, string, error) {
		pod := &corev1.Pod{}
		err := s.get(node+"-0", pod)
		return pod.UID != "" && pod.UID != than, string(pod.Status.Phase), err
	})
}
