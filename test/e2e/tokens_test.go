package e2e

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// tryTokensOfOthers asks the sidecar of one node with every token that somebody else may have seen. Only its own opens it.
func (s *scenario) tryTokensOfOthers() {
	const node = "full"
	own := s.sidecarAudience(node)
	for _, c := range []struct {
		whose, token string
		status       int
	}{
		{"its own token", s.sidecarToken(own), http.StatusOK},
		{"the token of another node", s.sidecarToken(s.sidecarAudience("v-0")), http.StatusUnauthorized},
		{"the token of a node of its name before", s.sidecarToken(api.NodeAudience(s.namespace, node, uuid.NewString())), http.StatusUnauthorized},
		{"the token that older sidecars share", s.sidecarToken(api.TokenAudience), http.StatusUnauthorized},
		{"the operator's token for the API server", s.tokenOf(operatorNamespace, "sei-operator"), http.StatusUnauthorized},
		{"another account's token for this node", s.tokenOf(s.namespace, "default", own), http.StatusForbidden},
		{"no token", "", http.StatusUnauthorized},
	} {
		if got := s.answerOf("https", c.token, node, http.MethodGet, api.PathNode, nil); got != c.status {
			s.t.Errorf("looking at %s with %s: %d, want %d", node, c.whose, got, c.status)
		}
		if c.status == http.StatusOK {
			continue
		}
		if got := s.answerOf("https", c.token, node, http.MethodPost, "/v0/tasks", api.TaskRequest{Type: api.MarkReady}); got != c.status {
			s.t.Errorf("giving %s a task with %s: %d, want %d", node, c.whose, got, c.status)
		}
	}
}
