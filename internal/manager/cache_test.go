package manager

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

func TestCache_PodsConfigMapsAndRevisions_OnlyOurs(t *testing.T) {
	options, err := cacheOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for obj, by := range options.ByObject {
		label := map[string]string{"*v1.Pod": seiv1.LabelChain, "*v1.ConfigMap": seiv1.LabelGenesis, "*v1.ControllerRevision": seiv1.LabelRevisionOf}[typeName(obj)]
		if label == "" {
			continue
		}
		found++
		if !by.Label.Matches(labels.Set{label: "x"}) || by.Label.Matches(labels.Set{"app": "web", seiv1.LabelDeployment: "rpc"}) {
			t.Errorf("%T is selected by %s", obj, by.Label)
		}
	}
	if found != 3 {
		t.Errorf("%d of 3 kinds are selected by label", found)
	}
	if !options.ReaderFailOnMissingInformer {
		t.Error("a read of a kind that nobody watches would start a watch")
	}
}

func typeName(obj any) string {
	switch obj.(type) {
	case *corev1.Pod:
		return "*v1.Pod"
	case *corev1.ConfigMap:
		return "*v1.ConfigMap"
	case *appsv1.ControllerRevision:
		return "*v1.ControllerRevision"
	}
	return ""
}

func TestCache_ManagedFields_TellOnlyWhoAppliedAStatefulSet(t *testing.T) {
	options, err := cacheOptions([]string{"one", "two"})
	if err != nil {
		t.Fatal(err)
	}
	if len(options.DefaultNamespaces) != 2 {
		t.Errorf("namespaces are %v", options.DefaultNamespaces)
	}
	fields := []metav1.ManagedFieldsEntry{{
		Manager: seiv1.FieldOwnerSeiNode, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1("{}"),
	}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{ManagedFields: fields}}
	if _, err := options.DefaultTransform(service); err != nil || service.ManagedFields != nil {
		t.Errorf("a Service keeps %v (%v)", service.ManagedFields, err)
	}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{ManagedFields: fields}}
	for obj, by := range options.ByObject {
		if _, ok := obj.(*appsv1.StatefulSet); ok {
			if _, err := by.Transform(set); err != nil {
				t.Fatal(err)
			}
			if len(set.ManagedFields) != 1 || set.ManagedFields[0].Manager != seiv1.FieldOwnerSeiNode || set.ManagedFields[0].FieldsV1 != nil {
				t.Errorf("a StatefulSet keeps %+v, want that we have applied it, and not what", set.ManagedFields)
			}
			return
		}
	}
	t.Error("StatefulSets have no transform of their own")
}

func TestCache_Pods_KeepWhatIsLookedAt(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "n-0", Annotations: map[string]string{"a": "b"}, ManagedFields: []metav1.ManagedFieldsEntry{{}}},
		Spec: corev1.PodSpec{
			NodeName: "machine", ServiceAccountName: "x", Volumes: []corev1.Volume{{Name: "data"}},
			InitContainers: []corev1.Container{
				{Name: render.ContainerInstall, Image: "sidecar:1", Args: []string{"a"}},
				{Name: render.ContainerSidecar, Image: "seid:1", Env: []corev1.EnvVar{
					{Name: "E"}, {Name: render.EnvNodeUID, Value: "u"}, {Name: render.EnvTLSDir, Value: "/tls"},
				}},
			},
			Containers: []corev1.Container{{Name: render.ContainerSeid, Image: "seid:1", Env: []corev1.EnvVar{{Name: "E"}}}},
		},
		Status: corev1.PodStatus{PodIP: "10.0.0.1"},
	}
	if _, err := leanPod(pod); err != nil {
		t.Fatal(err)
	}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "n-0", Annotations: map[string]string{"a": "b"}},
		Spec: corev1.PodSpec{
			NodeName: "machine",
			InitContainers: []corev1.Container{
				{Name: render.ContainerInstall, Image: "sidecar:1"},
				{Name: render.ContainerSidecar, Image: "seid:1", Env: []corev1.EnvVar{{Name: render.EnvNodeUID, Value: "u"}, {Name: render.EnvTLSDir, Value: "/tls"}}},
			},
			Containers: []corev1.Container{{Name: render.ContainerSeid, Image: "seid:1"}},
		},
		Status: corev1.PodStatus{PodIP: "10.0.0.1"},
	}
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCache_Secrets_HoldNothingSecret(t *testing.T) {
	meta := metav1.ObjectMeta{
		Name: "key", ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{{}},
		Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: `{"data":{"key":"c2VjcmV0"}}`},
	}
	ours := map[string]string{render.AnnotationCertificateNotAfter: "2026-01-02T03:04:05Z"}
	maps.Copy(meta.Annotations, ours)
	partial := &metav1.PartialObjectMetadata{ObjectMeta: *meta.DeepCopy()}
	whole := &corev1.Secret{ObjectMeta: *meta.DeepCopy(), Data: map[string][]byte{"key": []byte("secret")}, StringData: map[string]string{"a": "b"}}
	for _, obj := range []metav1.Object{partial, whole} {
		if _, err := bareMetadata(obj); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ours, obj.GetAnnotations()); diff != "" {
			t.Errorf("%T has annotations (-want +got):\n%s", obj, diff)
		}
		if obj.GetManagedFields() != nil || obj.GetName() != "key" || obj.GetResourceVersion() != "7" {
			t.Errorf("%T became %+v", obj, obj)
		}
	}
	if whole.Data != nil || whole.StringData != nil {
		t.Error("the content is still there")
	}
}
