package tokens

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// fileReadEvery is how long the token of a file is used before the file is read again. The kubelet
// replaces it minutes before it expires.
const fileReadEvery = 10 * time.Second

// Source gives the token for a sidecar: one of its node's own, or the one that all older sidecars
// share.
type Source struct {
	nodes  *Cache
	shared sidecar.TokenFile
	clock  clock.PassiveClock

	mu     sync.Mutex
	token  string
	readAt time.Time
}

var _ sidecar.TokenSource = (*Source)(nil)

// NewSource makes a Source. shared is the file with the token that older sidecars accept.
func NewSource(nodes *Cache, shared sidecar.TokenFile, c clock.PassiveClock) *Source {
	return &Source{nodes: nodes, shared: shared, clock: c}
}

// Token implements sidecar.TokenSource.
func (s *Source) Token(ctx context.Context, audience string) (string, error) {
	if audience != api.TokenAudience {
		return s.nodes.Token(ctx, audience)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if s.token != "" && now.Sub(s.readAt) < fileReadEvery {
		return s.token, nil
	}
	token, err := s.shared.Token()
	if err != nil {
		return "", err
	}
	s.token, s.readAt = token, now
	return token, nil
}

// Refused implements sidecar.TokenSource. The kubelet sees to the file.
func (s *Source) Refused(audience, token string) {
	if audience != api.TokenAudience {
		s.nodes.Refused(audience, token)
	}
}
