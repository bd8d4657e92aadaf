package provisioner

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
)

func claim(change func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	class := StorageClass().Name
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "data", UID: "u1", Annotations: map[string]string{wantsProvisioner: Name}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			Resources:        corev1.VolumeResourceRequirements{Requests: storage("1Gi")},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	if change != nil {
		change(c)
	}
	return c
}

func storage(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

func volume(folder string, phase corev1.PersistentVolumePhase, policy corev1.PersistentVolumeReclaimPolicy) *corev1.PersistentVolume {
	v := volumeFor(claim(nil), StorageClass(), folder, "node")
	v.Status.Phase, v.Spec.PersistentVolumeReclaimPolicy = phase, policy
	return v
}

func start(t *testing.T, objects ...runtime.Object) *Provisioner {
	t.Helper()
	return &Provisioner{Client: fake.NewClientset(append(objects, StorageClass())...), Folder: t.TempDir(), Node: "node"}
}

func volumes(t *testing.T, p *Provisioner) []corev1.PersistentVolume {
	t.Helper()
	list, err := p.Client.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestWork_ClaimThatWaitsForUs_GetsAFolderAndAVolume(t *testing.T) {
	p := start(t, claim(nil))
	for range 2 { // a repeat changes nothing
		if err := p.work(t.Context(), job{Namespace: "ns", Name: "data"}); err != nil {
			t.Fatal(err)
		}
	}
	got := volumes(t, p)
	if len(got) != 1 || got[0].Spec.Local.Path != filepath.Join(p.Folder, "pvc-u1") || got[0].Spec.ClaimRef.UID != "u1" {
		t.Fatalf("got %+v", got)
	}
	if info, err := os.Stat(got[0].Spec.Local.Path); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the folder: %v, %v", info, err)
	}
}

func TestWork_ClaimsThatAreNotOurs_GetNothing(t *testing.T) {
	tests := map[string]func(*corev1.PersistentVolumeClaim){
		"still waits for a pod":  func(c *corev1.PersistentVolumeClaim) { c.Annotations = nil },
		"another provisioner's":  func(c *corev1.PersistentVolumeClaim) { c.Annotations[wantsProvisioner] = "other" },
		"names a volume already": func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "imported" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			p := start(t, claim(change))
			if err := p.work(t.Context(), job{Namespace: "ns", Name: "data"}); err != nil {
				t.Fatal(err)
			}
			if got := volumes(t, p); len(got) != 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestWork_ReleasedVolume_FollowsItsReclaimPolicy(t *testing.T) {
	tests := map[string]struct {
		phase  corev1.PersistentVolumePhase
		policy corev1.PersistentVolumeReclaimPolicy
		kept   bool
	}{
		"released, delete": {corev1.VolumeReleased, corev1.PersistentVolumeReclaimDelete, false},
		"released, retain": {corev1.VolumeReleased, corev1.PersistentVolumeReclaimRetain, true},
		"bound, delete":    {corev1.VolumeBound, corev1.PersistentVolumeReclaimDelete, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			v := volume(folder, tc.phase, tc.policy)
			p := start(t, v)
			p.Folder = folder
			if err := os.MkdirAll(v.Spec.Local.Path, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := p.work(t.Context(), job{Name: v.Name}); err != nil {
				t.Fatal(err)
			}
			_, err := os.Stat(v.Spec.Local.Path)
			if kept := err == nil; kept != tc.kept || (len(volumes(t, p)) == 1) != tc.kept {
				t.Errorf("folder kept: %t, volumes: %d, want kept: %t", kept, len(volumes(t, p)), tc.kept)
			}
		})
	}
}

func TestWork_VolumeThatPointsElsewhere_RemovesNothing(t *testing.T) {
	elsewhere := t.TempDir()
	v := volume(elsewhere, corev1.VolumeReleased, corev1.PersistentVolumeReclaimDelete)
	p := start(t, v)
	if err := os.MkdirAll(v.Spec.Local.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.work(t.Context(), job{Name: v.Name}); err == nil {
		t.Error("want an error")
	}
	if _, err := os.Stat(v.Spec.Local.Path); err != nil {
		t.Errorf("the folder is gone: %v", err)
	}
}

func TestWork_ClaimThatGrew_GrowsVolumeAndStatus(t *testing.T) {
	v := volume(t.TempDir(), corev1.VolumeBound, corev1.PersistentVolumeReclaimDelete)
	p := start(t, v, claim(func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName, c.Status.Phase, c.Status.Capacity = v.Name, corev1.ClaimBound, storage("1Gi")
		c.Spec.Resources.Requests = storage("3Gi")
	}))
	if err := p.work(t.Context(), job{Namespace: "ns", Name: "data"}); err != nil {
		t.Fatal(err)
	}
	c, err := p.Client.CoreV1().PersistentVolumeClaims("ns").Get(t.Context(), "data", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	onVolume, onClaim := volumes(t, p)[0].Spec.Capacity.Storage().String(), c.Status.Capacity.Storage().String()
	if onVolume != "3Gi" || onClaim != "3Gi" {
		t.Errorf("volume %s, claim %s, want 3Gi", onVolume, onClaim)
	}
}
