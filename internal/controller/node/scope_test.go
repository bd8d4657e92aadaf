package node

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
)

func ownedBy(node *v1alpha1.SeiNode) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(node, v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNode))}
}

// withPlan is a scope of a node whose plan is under way.
func withPlan() *scope {
	s := &scope{node: newFullNode()}
	s.node.Status.Plan = &v1alpha1.TaskPlan{Phase: v1alpha1.PlanActive, Target: &v1alpha1.PlanTarget{PodTemplateHash: "planned"}}
	return s
}

// C3: after an impostor was deleted the plan waits for the next pass, which starts from what is there
// then.
func TestMayAdvance_NotInThePassThatDeletedAnImpostor(t *testing.T) {
	s := withPlan()
	if !s.mayAdvance() {
		t.Error("a plan does not run")
	}
	s.found.ImpostorDeleted = true
	if s.mayAdvance() {
		t.Error("it runs on after an impostor was deleted")
	}
	s.found.ImpostorDeleted, s.decision.Action = false, domain.Hold
	if s.mayAdvance() {
		t.Error("it runs although it is held")
	}
}

// S7: while the node's own bootstrap Job has the volume nothing makes a StatefulSet.
func TestMayHaveStatefulSet_NotBesideTheNodesJob(t *testing.T) {
	s := withPlan()
	s.found.Identity = &v1alpha1.ObjectIdentity{UID: "sts"}
	if !s.mayHaveStatefulSet() {
		t.Error("without a Job")
	}
	s.observed.Job = &batchv1.Job{}
	if !s.mayHaveStatefulSet() {
		t.Error("beside a Job of somebody else")
	}
	s.observed.Job.OwnerReferences = ownedBy(s.node)
	if s.mayHaveStatefulSet() {
		t.Error("beside the node's own Job")
	}
}

// N10: a plan keeps which template it has applied.
func TestPin_KeepsTheTemplateThatWasApplied(t *testing.T) {
	s := withPlan()
	s.pin()
	if got := s.node.Status.Plan.Target.PodTemplateHash; got != "planned" {
		t.Errorf("nothing was applied, and the plan is for %s", got)
	}
	s.found.AppliedTemplate = "applied"
	s.pin()
	if got := s.node.Status.Plan.Target.PodTemplateHash; got != "applied" {
		t.Errorf("the plan is for %s", got)
	}
}

// A pod of the node's name that its StatefulSet did not make is not the node's, whatever it was made from.
func TestDomainFacts_ForeignPod_IsNotTheNodes(t *testing.T) {
	s := withPlan()
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "sts", OwnerReferences: ownedBy(s.node)}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "n-0", Annotations: map[string]string{render.AnnotationTemplateHash: "old"}}}
	s.observed.StatefulSet, s.observed.Pod = sts, pod
	if f := s.domainFacts(); f.Pod != nil {
		t.Errorf("pod %+v, want nil", f.Pod)
	}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	if f := s.domainFacts(); f.Pod == nil || f.Pod.TemplateHash != "old" {
		t.Errorf("pod %+v, want Pod not nil and TemplateHash %q", f.Pod, "old")
	}
}

// A paused node's plan has its whole time again when it continues.
func TestPaused_ThePlansClockStands(t *testing.T) {
	node := newFullNode()
	deadline := metav1.NewTime(time.Date(2026, 1, 2, 3, 9, 0, 0, time.UTC))
	node.Status.Plan = &v1alpha1.TaskPlan{
		ID: "p", Phase: v1alpha1.PlanActive, Reason: domain.ReasonNewNode, Target: &v1alpha1.PlanTarget{},
		Tasks: []v1alpha1.PlannedTask{{Type: domain.StepEnsureDataPVC, ID: "t", Status: v1alpha1.TaskRunning, Deadline: &deadline, StartedAt: &deadline, Attempt: 1}},
	}
	c := newCluster(t, node)
	if _, err := c.reconcile(t, c.operator(t)); err != nil {
		t.Fatal(err)
	}
	if p := c.stored(t).Status.Plan; p == nil || p.Tasks[0].Deadline != nil || p.Tasks[0].StartedAt != nil {
		t.Errorf("plan %+v, want not nil, Deadline nil and StartedAt nil", p)
	}
}

// N15: no pass decides on an object as it was before our own write.
func TestObserve_CacheIsBehindAWriteToAnObject_NothingIsDecided(t *testing.T) {
	c := newCluster(t, newFullNode())
	r := c.operator(t)
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: "sts"}}
	if err := c.Create(t.Context(), sts); err != nil {
		t.Fatal(err)
	}
	seen := sts.DeepCopy()
	sts.Labels = map[string]string{"written": "later"}
	if err := c.Update(t.Context(), sts); err != nil {
		t.Fatal(err)
	}
	r.Writes.Wrote(sts)
	c.Late = seen
	if result, err := c.reconcile(t, r); err != nil || result.RequeueAfter != loop.StaleInterval || c.StatusWrites > 0 {
		t.Errorf("the reconcile ends with %+v, %v and %d writes", result, err, c.StatusWrites)
	}
	c.Late = nil
	if result, err := c.reconcile(t, r); err != nil || result.RequeueAfter == loop.StaleInterval {
		t.Errorf("with the write in the cache it ends with %+v, %v", result, err)
	}
}

// The pod that pulls ahead is looked at if it is the node's own, and ends by its UID.
func TestPullAhead_OnlyTheNodesOwnPodEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		owned bool
		seen  types.UID
		found bool
		gone  bool
	}{
		"the node's own":                {true, "pull", true, true},
		"one that took its place since": {true, "earlier", true, false},
		"somebody else's":               {false, "pull", false, false},
	} {
		c := newCluster(t, newFullNode())
		r, s := c.operator(t), &scope{node: c.stored(t)}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: render.ImagePullPodName(s.node), UID: "pull"}}
		if tc.owned {
			pod.OwnerReferences = ownedBy(s.node)
		}
		if err := c.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		late := pod.DeepCopy()
		late.UID = tc.seen
		c.Late = late
		if err := r.observePull(t.Context(), s); err != nil || (s.pullPod != nil) != tc.found {
			t.Fatalf("%s: found %v, %v", name, s.pullPod, err)
		}
		if s.pullPod != nil {
			s.pull.Action = domain.PullEnd
			if err := r.syncPull(t.Context(), s); (err == nil) != tc.gone {
				t.Errorf("%s: %v, want no error: %t", name, err, tc.gone)
			}
		}
		if c.has(t, "ns", pod.Name, &corev1.Pod{}) == tc.gone {
			t.Errorf("%s: gone %t, want %t", name, !tc.gone, tc.gone)
		}
	}
}

// Of a node's backups the newest stay, with the one that was just taken among them whatever its time
// says; each goes by its UID.
func TestPruneSnapshots_TheOneJustTakenStays(t *testing.T) {
	c := newCluster(t, newFullNode())
	r, s := c.operator(t), &scope{node: c.stored(t)}
	s.input.Platform = r.Platform
	s.input.Platform.VolumeSnapshots.Keep, s.volumeSnapshot.Name = 2, "taken"
	backup := func(name string, uid types.UID, hour int) *unstructured.Unstructured {
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(render.VolumeSnapshotKind)
		obj.SetNamespace("ns")
		obj.SetName(name)
		obj.SetUID(uid)
		obj.SetLabels(render.UpgradeSnapshotLabels(s.node))
		obj.SetCreationTimestamp(metav1.NewTime(time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC)))
		return obj
	}
	there := func(name string) bool { return c.has(t, "ns", name, backup(name, "", 0)) }
	for _, obj := range []*unstructured.Unstructured{backup("old", "old", 1), backup("taken", "taken", 2), backup("newer", "newer", 3)} {
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	r.pruneSnapshots(t.Context(), s)
	if there("old") || !there("taken") || !there("newer") {
		t.Errorf("old %t, taken %t, newer %t", there("old"), there("taken"), there("newer"))
	}
	r.deleteSnapshot(t.Context(), backup("newer", "earlier", 3))
	if !there("newer") {
		t.Error("a backup that nobody has seen was deleted")
	}
}
