package podsim_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

func newClaim(name, class string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	if class != "" {
		claim.Spec.StorageClassName = &class
	}
	return claim
}

func mounting(claim string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Volumes = append(s.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
	}
}

func (w *world) claim(t *testing.T, name string, condition func(*corev1.PersistentVolumeClaim) bool) *corev1.PersistentVolumeClaim {
	t.Helper()
	return envtest.WaitFor(t, w.Env, w.ns, name, func(c *corev1.PersistentVolumeClaim) bool { return c != nil && condition(c) })
}

func bound(c *corev1.PersistentVolumeClaim) bool { return c.Status.Phase == corev1.ClaimBound }

func TestClaim_OfTheDefaultClass_BindsWhenAPodNeedsIt(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	w.create(t, newClaim("data", ""), newClaim("other", podsim.ClassImmediate))
	// The second claim is proof that the provisioner is at work.
	w.claim(t, "other", bound)
	w.claim(t, "data", func(c *corev1.PersistentVolumeClaim) bool { return c.Status.Phase == corev1.ClaimPending })
	w.create(t, newPod("p", mounting("data")))
	w.pod(t, "p", isReady)
	c := w.claim(t, "data", bound)
	if got := c.Status.Capacity[corev1.ResourceStorage]; got.String() != "1Gi" || c.Annotations["volume.kubernetes.io/selected-node"] == "" {
		t.Errorf("the claim has capacity %s and annotations %v", got.String(), c.Annotations)
	}
}

func TestClaim_Missing_KeepsThePodPending(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	w.create(t, newPod("p", mounting("data")))
	w.pod(t, "p", func(p *corev1.Pod) bool {
		return condition(p, corev1.PodScheduled).Message == `persistentvolumeclaim "data" not found`
	})
	w.create(t, newClaim("data", ""))
	w.pod(t, "p", isReady)
}

func TestClaim_Held_KeepsThePodPending(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	release := w.sim.HoldClaim(w.ns, "data")
	w.create(t, newClaim("data", podsim.ClassImmediate), newPod("p", mounting("data")))
	w.pod(t, "p", func(p *corev1.Pod) bool {
		return strings.Contains(condition(p, corev1.PodScheduled).Message, "unbound immediate PersistentVolumeClaims")
	})
	release()
	w.pod(t, "p", isReady)
}

func TestClaim_GrowsIfItsClassAllows(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	w.create(t, newClaim("grows", podsim.ClassImmediate), newClaim("fixed", podsim.ClassFixed), newPod("p", mounting("fixed")))
	grow := func(name string) error {
		return retry.RetryOnConflict(retry.DefaultRetry, func() error {
			c := w.claim(t, name, bound)
			c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("5Gi")
			return w.Client.Update(t.Context(), c)
		})
	}
	if err := grow("grows"); err != nil {
		t.Fatal(err)
	}
	c := w.claim(t, "grows", func(c *corev1.PersistentVolumeClaim) bool {
		got := c.Status.Capacity[corev1.ResourceStorage]
		return got.String() == "5Gi"
	})
	var volume corev1.PersistentVolume
	if err := w.Client.Get(t.Context(), client.ObjectKey{Name: c.Spec.VolumeName}, &volume); err != nil {
		t.Fatal(err)
	}
	if got := volume.Spec.Capacity[corev1.ResourceStorage]; got.String() != "5Gi" {
		t.Errorf("the volume has %s", got.String())
	}
	if err := grow("fixed"); err == nil || !strings.Contains(err.Error(), "resize") {
		t.Errorf("growing a claim whose class forbids it: %v", err)
	}
}

func TestClaim_Deleted_TakesItsVolumeAlong(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	w.create(t, newClaim("data", podsim.ClassImmediate))
	c := w.claim(t, "data", bound)
	w.delete(t, c)
	envtest.WaitGone[corev1.PersistentVolumeClaim](t, w.Env, w.ns, "data")
	envtest.WaitGone[corev1.PersistentVolume](t, w.Env, "", c.Spec.VolumeName)
}

// Benchmarks run without the binder to save its writes.
func TestBindClaims_WorksWithoutTheBinder(t *testing.T) {
	w := newWorld(t, podsim.Options{BindClaims: true})
	w.create(t, newClaim("data", ""), newPod("p", mounting("data")))
	w.pod(t, "p", isReady)
	w.claim(t, "data", bound)
}
