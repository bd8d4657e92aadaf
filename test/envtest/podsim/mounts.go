package podsim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
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
