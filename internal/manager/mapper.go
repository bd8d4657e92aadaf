package manager

import (
	"fmt"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// mapper remembers what it has learned about a kind. With --watch-namespace the cache asks at every read
// whether a kind is namespaced, and to find that out again was most of the garbage of a look at a
// node. The kinds are those the operator was built with, and none of them ever changes its scope.
type mapper struct {
	meta.RESTMapper

	known sync.Map // of schema.GroupVersionKind to *meta.RESTMapping
}

func newMapper(config *rest.Config, client *http.Client) (meta.RESTMapper, error) {
	dynamic, err := apiutil.NewDynamicRESTMapper(config, client)
	if err != nil {
		return nil, fmt.Errorf("discovering the kinds of the API server: %w", err)
	}
	return &mapper{RESTMapper: dynamic}, nil
}

// RESTMapping implements meta.RESTMapper. That a kind is missing is not remembered: it may be
// installed later.
func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) != 1 {
		return m.RESTMapper.RESTMapping(kind, versions...)
	}
	key := kind.WithVersion(versions[0])
	if known, ok := m.known.Load(key); ok {
		return known.(*meta.RESTMapping), nil
	}
	found, err := m.RESTMapper.RESTMapping(kind, versions...)
	if err == nil {
		m.known.Store(key, found)
	}
	return found, err
}
