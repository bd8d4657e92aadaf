package podsim

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// missingSource names the first Secret or ConfigMap, or key of one, that the
// pod's volumes need and that does not exist. A kubelet starts no container
// before everything can be mounted.
func (s *Simulator) missingSource(pod *corev1.Pod) string {
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.Secret != nil:
			if why := s.missingKeys(s.secrets, pod.Namespace, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional); why != "" {
				return why
			}
		case v.ConfigMap != nil:
			if why := s.missingKeys(s.configMaps, pod.Namespace, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional); why != "" {
				return why
			}
		}
	}
	return ""
}

func (s *Simulator) missingKeys(store cache.SharedIndexInformer, namespace, name string, items []corev1.KeyToPath, optional *bool) string {
	if optional != nil && *optional {
		return ""
	}
	obj, exists, err := store.GetStore().GetByKey(namespace + "/" + name)
	if err != nil || !exists {
		return name + " not found"
	}
	for _, item := range items {
		if !hasKey(obj, item.Key) {
			return fmt.Sprintf("%s has no key %s", name, item.Key)
		}
	}
	return ""
}

func hasKey(obj any, key string) bool {
	switch o := obj.(type) {
	case *corev1.Secret:
		_, ok := o.Data[key]
		return ok
	case *corev1.ConfigMap:
		_, text := o.Data[key]
		_, binary := o.BinaryData[key]
		return text || binary
	default:
		return false
	}
}

// claimUIDs are the UIDs of a pod's claims, by volume.
func (s *Simulator) claimUIDs(pod *corev1.Pod) (map[string]types.UID, error) {
	uids := map[string]types.UID{}
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		claim, err := s.claim(pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		if err != nil {
			return nil, err
		}
		if claim == nil {
			return nil, fmt.Errorf("mounting volume %s: claim %s is gone", v.Name, v.PersistentVolumeClaim.ClaimName)
		}
		uids[v.Name] = claim.UID
	}
	return uids, nil
}

// mountRetry is the pause before a container whose files could not be read is
// started again.
const mountRetry = 50 * time.Millisecond

// secretFiles reads the files of Secrets that a container mounts by subPath, as
// they are at this moment. Of a Secret that was deleted meanwhile the pod keeps
// what it had.
func (s *Simulator) secretFiles(ctx context.Context, pod *corev1.Pod, c *container) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, m := range c.spec.VolumeMounts {
		at := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name && v.Secret != nil })
		if m.SubPath == "" || at < 0 {
			continue
		}
		source := pod.Spec.Volumes[at].Secret
		secret, err := s.client.CoreV1().Secrets(pod.Namespace).Get(ctx, source.SecretName, metav1.GetOptions{})
		switch data, ok := keyAt(source, secret, m.SubPath); {
		case err == nil && ok:
			files[m.MountPath] = data
		case err == nil || apierrors.IsNotFound(err):
			if data, had := c.files[m.MountPath]; had {
				files[m.MountPath] = data
			}
		default:
			return nil, fmt.Errorf("mounting Secret %s: %w", source.SecretName, err)
		}
	}
	return files, nil
}

// mountedBy reads the Secrets that a container mounts as folders.
func (s *Simulator) mountedBy(pod *corev1.Pod, c *container) func(path string) map[string][]byte {
	var mu sync.Mutex
	last := map[string]map[string][]byte{}
	return func(path string) map[string][]byte {
		mu.Lock()
		defer mu.Unlock()
		if files := s.secretFolder(pod, c, path); files != nil {
			last[path] = files
		}
		return last[path]
	}
}

func (s *Simulator) secretFolder(pod *corev1.Pod, c *container, path string) map[string][]byte {
	at := slices.IndexFunc(c.spec.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == path && m.SubPath == "" })
	if at < 0 {
		return nil
	}
	volume := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == c.spec.VolumeMounts[at].Name && v.Secret != nil })
	if volume < 0 {
		return nil
	}
	source := pod.Spec.Volumes[volume].Secret
	obj, exists, err := s.secrets.GetStore().GetByKey(pod.Namespace + "/" + source.SecretName)
	secret, ok := obj.(*corev1.Secret)
	if err != nil || !exists || !ok {
		return nil
	}
	if len(source.Items) == 0 {
		return secret.Data
	}
	files := map[string][]byte{}
	for _, item := range source.Items {
		data, there := secret.Data[item.Key]
		if !there {
			return nil // a kubelet leaves the folder as it is
		}
		files[item.Path] = data
	}
	return files
}

// keyAt is the content that a Secret's volume has at a path.
func keyAt(source *corev1.SecretVolumeSource, secret *corev1.Secret, at string) ([]byte, bool) {
	key := at
	for _, item := range source.Items {
		if path.Clean(item.Path) == path.Clean(at) {
			key = item.Key
		}
	}
	if secret == nil {
		return nil, false
	}
	data, ok := secret.Data[key]
	return data, ok
}
