package manager

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/task"
)

// cacheOptions keep the memory to what the controllers need: in a shared cluster
// most pods and ConfigMaps are none of our business.
func cacheOptions(namespaces []string) (cache.Options, error) {
	// Not by the label of a node's pods: one that pulls an image ahead does not have it.
	pods, err := having(seiv1.LabelChain)
	if err != nil {
		return cache.Options{}, err
	}
	genesis, err := having(seiv1.LabelGenesis)
	if err != nil {
		return cache.Options{}, err
	}
	revisions, err := having(seiv1.LabelRevisionOf)
	if err != nil {
		return cache.Options{}, err
	}
	var only map[string]cache.Config
	for _, namespace := range namespaces {
		if only == nil {
			only = map[string]cache.Config{}
		}
		only[namespace] = cache.Config{}
	}
	return cache.Options{
		DefaultNamespaces: only,
		DefaultTransform:  cache.TransformStripManagedFields(),
		// A read of a kind nobody watches would start a watch of the whole
		// cluster, and wait for it. It is a mistake; make it an error.
		ReaderFailOnMissingInformer: true,
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:       {Label: pods, Transform: leanPod},
			&corev1.ConfigMap{}: {Label: genesis},
			// Every StatefulSet and DaemonSet of the cluster has some of its own.
			&appsv1.ControllerRevision{}: {Label: revisions},
			&appsv1.StatefulSet{}:        {Transform: leanStatefulSet},
			&corev1.Secret{}:             {Transform: bareMetadata},
		},
	}, nil
}

// clientOptions send reads of what is not cached to the API server. Secrets are
// watched by metadata alone; their content is read where it is checked, and kept
// nowhere.
func clientOptions() client.Options {
	return client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{
		&corev1.Secret{}, &corev1.PersistentVolume{}, &coordinationv1.Lease{},
	}}}
}

func having(label string) (labels.Selector, error) {
	requirement, err := labels.NewRequirement(label, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("selecting by label %s: %w", label, err)
	}
	return labels.NewSelector().Add(*requirement), nil
}

// leanStatefulSet keeps of the managed fields what tells whether a StatefulSet is one of ours.
func leanStatefulSet(obj any) (any, error) {
	if sts, ok := obj.(*appsv1.StatefulSet); ok {
		task.DropAppliedFields(sts)
	}
	return obj, nil
}

// leanPod keeps of a pod's spec what is looked at: where it runs, its images, the node that its
// sidecar serves, and whether that speaks TLS. The
// rest is most of what a pod takes in memory. Nobody writes a pod back; its labels are kept, and
// may be patched.
func leanPod(obj any) (any, error) {
	if pod, ok := obj.(*corev1.Pod); ok {
		pod.ManagedFields = nil
		pod.Spec = corev1.PodSpec{
			NodeName: pod.Spec.NodeName, InitContainers: lean(pod.Spec.InitContainers), Containers: lean(pod.Spec.Containers),
		}
	}
	return obj, nil
}

func lean(containers []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, len(containers))
	for i := range containers {
		kept[i] = corev1.Container{Name: containers[i].Name, Image: containers[i].Image}
		for _, v := range containers[i].Env {
			if v.Name == render.EnvNodeUID || v.Name == render.EnvTLSDir {
				kept[i].Env = append(kept[i].Env, v)
			}
		}
	}
	return kept
}

// bareMetadata keeps a Secret's name and version. The annotations go too, but for what we say of our
// own certificates: the one that kubectl apply leaves holds the whole content.
func bareMetadata(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil {
		accessor.SetManagedFields(nil)
		accessor.SetAnnotations(certificateAnnotations(accessor.GetAnnotations()))
	}
	if secret, ok := obj.(*corev1.Secret); ok { // nobody watches whole Secrets; should someone, they find no content
		secret.Data, secret.StringData = nil, nil
	}
	return obj, nil
}

func certificateAnnotations(all map[string]string) map[string]string {
	var kept map[string]string
	for key, value := range all {
		if strings.HasPrefix(key, render.AnnotationCertificate) {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}
