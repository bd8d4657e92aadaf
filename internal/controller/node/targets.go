package node

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/task"
)

// targets remembers what nodes ask for, so that a node is not rendered at every look. A target
// follows from the node's spec and metadata, the retries that were answered last, its peers, the image in
// force, and settings that hold as long as the process.
type targets struct {
	mu     sync.Mutex
	byNode map[types.NamespacedName]rendered
}

// rendered is a target with what it was rendered for.
type rendered struct {
	content string
	retried [2]string
	peers   []string
	image   string
	target  domain.Target
}

// of is the target of a node, rendered if anything that it follows from has changed.
func (m *targets) of(node *v1alpha1.SeiNode, peers []string, image string, render func() domain.Target) domain.Target {
	key, content := client.ObjectKeyFromObject(node), task.ContentVersion(node)
	retried := [2]string{node.Status.RetriedFor, node.Status.RetriedForFleet}
	m.mu.Lock()
	known, ok := m.byNode[key]
	m.mu.Unlock()
	if ok && known.content == content && known.retried == retried && known.image == image && slices.Equal(known.peers, peers) {
		return known.target
	}
	known = rendered{content, retried, slices.Clone(peers), image, render()}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byNode == nil {
		m.byNode = map[types.NamespacedName]rendered{}
	}
	m.byNode[key] = known
	return known.target
}

func (m *targets) forget(node types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byNode, node)
}
