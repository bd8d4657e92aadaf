package node

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
)

// template is what decisions depend on of a rendered pod template.
type template struct {
	// problem is why it cannot be rendered; empty when it can.
	problem                      string
	sidecarImage, hash, specHash string
}

func (p template) into(t *domain.Target) {
	t.TemplateProblem, t.SidecarImage, t.PodTemplateHash, t.SpecHash = p.problem, p.sidecarImage, p.hash, p.specHash
}

// templates remembers the templates of nodes as long as these do not change: a template follows
// from the node and from settings that hold as long as the process.
type templates struct {
	mu     sync.Mutex
	byNode map[types.NamespacedName]templateOf
}

type templateOf struct {
	uid             types.UID
	resourceVersion string
	template        template
}

// of is the template of a node, rendered if the node is not the one that it was rendered for.
func (m *templates) of(node *v1alpha1.SeiNode, render func() template) template {
	key := client.ObjectKeyFromObject(node)
	m.mu.Lock()
	known, ok := m.byNode[key]
	m.mu.Unlock()
	if ok && known.uid == node.UID && known.resourceVersion == node.ResourceVersion {
		return known.template
	}
	known = templateOf{node.UID, node.ResourceVersion, render()}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byNode == nil {
		m.byNode = map[types.NamespacedName]templateOf{}
	}
	m.byNode[key] = known
	return known.template
}

func (m *templates) forget(node types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byNode, node)
}
