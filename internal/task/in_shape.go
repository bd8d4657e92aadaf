package task

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// InShape remembers in which version an object was found to be what its node asks for. While
// neither of the two has changed there is nothing to compare: what is wanted follows from the
// node and from settings that hold as long as the process. The zero value is ready to use.
type InShape struct {
	mu    sync.Mutex
	nodes map[types.NamespacedName]shapes
}

// shapes are the objects of one version of a node, with theirs.
type shapes struct {
	node    string
	objects map[types.UID]string
}

// known reports whether an object of the node was compared before, as both are now.
func (s *InShape) known(node *v1alpha1.SeiNode, live client.Object) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.nodes[client.ObjectKeyFromObject(node)]
	return ok && found.node == ContentVersion(node) && found.objects[live.GetUID()] == ContentVersion(live)
}

// note remembers that an object is what its node asks for.
func (s *InShape) note(node *v1alpha1.SeiNode, live client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, version := client.ObjectKeyFromObject(node), ContentVersion(node)
	found := s.nodes[key]
	if found.node != version {
		found = shapes{node: version, objects: map[types.UID]string{}}
	}
	found.objects[live.GetUID()] = ContentVersion(live)
	if s.nodes == nil {
		s.nodes = map[types.NamespacedName]shapes{}
	}
	s.nodes[key] = found
}

// Forget drops what is known of a node that is gone.
func (s *InShape) Forget(node types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.nodes, node)
}

// ContentVersion identifies an object with its spec, labels, annotations and owners. It stays as it
// is when only the status was written, which happens far more often, unless the API server counts no
// generations of that kind.
func ContentVersion(obj client.Object) string {
	if obj.GetGeneration() == 0 {
		return fmt.Sprintf("%s/version-%s", obj.GetUID(), obj.GetResourceVersion())
	}
	hash := fnv.New128a()
	for _, entries := range []map[string]string{obj.GetLabels(), obj.GetAnnotations()} {
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			_, _ = fmt.Fprintf(hash, "%q=%q,", key, entries[key])
		}
		_, _ = io.WriteString(hash, ";")
	}
	for _, owner := range obj.GetOwnerReferences() {
		_, _ = fmt.Fprintf(hash, "%s %t %t,", owner.UID, owner.Controller != nil && *owner.Controller, owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion)
	}
	return fmt.Sprintf("%s/%d/%s", obj.GetUID(), obj.GetGeneration(), hex.EncodeToString(hash.Sum(nil)))
}
