package client

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// TokenSource gives the bearer token for the next request.
type TokenSource interface {
	// Token gives a token of an audience.
	Token(ctx context.Context, audience string) (string, error)
	// Refused says that a sidecar does not accept a token, so that another is asked for.
	Refused(audience, token string)
}

// TokenFile reads a projected service-account token. It reads the file every time, because the
// kubelet replaces it.
type TokenFile string

// Token is the token in the file.
func (f TokenFile) Token() (string, error) {
	raw, err := os.ReadFile(string(f))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(raw))
	if token == "" {
		return "", errors.New(string(f) + " is empty")
	}
	return token, nil
}

// audience is that of the token for a sidecar. A sidecar that refused its node's token before and
// took the shared one is shown that at once.
func (r *remote) audience() (string, error) {
	switch {
	case r.target.Audience != "" && r.target.Audience != api.TokenAudience && !r.pool.older.has(r.target.PodUID):
		return r.target.Audience, nil
	case r.pool.opts.RefuseShared:
		return "", ErrSharedAudience
	default:
		return api.TokenAudience, nil
	}
}

// olderPods are the pods whose sidecars were reported their node and are too old to listen: they
// refuse the node's token and accept the shared one.
type olderPods struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// forgetOlder is how long a pod is remembered that is not called any more.
const forgetOlder = time.Hour

func (o *olderPods) has(pod string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.seen[pod]; !ok {
		return false
	}
	o.seen[pod] = time.Now()
	return true
}

func (o *olderPods) add(pod string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil {
		o.seen = map[string]time.Time{}
	}
	for other, at := range o.seen {
		if time.Since(at) > forgetOlder {
			delete(o.seen, other)
		}
	}
	o.seen[pod] = time.Now()
}

func (o *olderPods) remove(pod string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.seen, pod)
}
