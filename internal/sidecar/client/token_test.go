package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// audiences is a source whose tokens are named after their audience.
type audiences struct {
	mu      sync.Mutex
	refused []string
	err     error
}

func (a *audiences) Token(_ context.Context, audience string) (string, error) {
	return "for:" + audience, a.err
}

func (a *audiences) Refused(audience, _ string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = append(a.refused, audience)
}

// door is a sidecar that lets in tokens of one audience, and writes down all that it is shown.
type door struct {
	mu       sync.Mutex
	audience string
	shown    []string
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	token := r.Header.Get("Authorization")
	d.shown = append(d.shown, strings.TrimPrefix(token, "Bearer for:"))
	if api.IsPublic(r.URL.Path) || token == "Bearer for:"+d.audience {
		answer(http.StatusOK, `{}`)(w, r)
		return
	}
	answer(http.StatusUnauthorized, `{"error":"token is for somebody else"}`)(w, r)
}

// take gives what was shown since the last time.
func (d *door) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	shown := d.shown
	d.shown = nil
	return shown
}

const own = "sei-sidecar/chain/node-0/uid"

func knock(t *testing.T, d *door, opts Options, target Target) Sidecar {
	t.Helper()
	srv := httptest.NewServer(d)
	t.Cleanup(srv.Close)
	pool := NewPool(opts)
	t.Cleanup(pool.CloseIdle)
	target.Address = srv.Listener.Addr().String()
	return pool.Sidecar(target)
}

func TestToken_IsOfTheNodesAudience_AndNeverOnPublicPaths(t *testing.T) {
	d := &door{audience: own}
	s := knock(t, d, Options{Tokens: &audiences{}}, Target{PodUID: "p", Audience: own})
	if _, err := s.Node(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := s.Health(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{own, ""}, d.take()); diff != "" {
		t.Errorf("tokens that were shown (-want +got):\n%s", diff)
	}
}

// A sidecar whose image is older than its pod's template refuses its node's token. It is shown the
// shared one, and from then on that alone, until it refuses it.
func TestToken_AnOlderSidecarInANewerPod_GetsTheSharedOne(t *testing.T) {
	d, tokens := &door{audience: api.TokenAudience}, &audiences{}
	s := knock(t, d, Options{Tokens: tokens}, Target{PodUID: "p", Audience: own})
	for _, want := range [][]string{{own, api.TokenAudience}, {api.TokenAudience}} {
		if _, err := s.Node(t.Context()); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, d.take()); diff != "" {
			t.Errorf("tokens that were shown (-want +got):\n%s", diff)
		}
	}
	d.audience = own // its image was replaced in its place
	if _, err := s.Node(t.Context()); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("%v, want that it refuses", err)
	}
	if _, err := s.Node(t.Context()); err != nil {
		t.Error(err)
	}
	if got := d.take(); !slices.Equal(got, []string{api.TokenAudience, own}) {
		t.Errorf("shown %v, want %v", got, []string{api.TokenAudience, own})
	}
	if !slices.Equal(tokens.refused, []string{own, api.TokenAudience}) {
		t.Errorf("refused %v, want %v", tokens.refused, []string{own, api.TokenAudience})
	}
}

func TestToken_SharedAudienceRefused_IsNeverShown(t *testing.T) {
	for name, c := range map[string]struct {
		target string
		want   error
		shown  []string
	}{
		"a pod of an older operator":      {api.TokenAudience, ErrSharedAudience, nil},
		"a pod that says nothing":         {"", ErrSharedAudience, nil},
		"an older image in a newer pod":   {own, ErrUnauthorized, []string{own}},
		"one that answers whatever it is": {"sei-sidecar/a/b/c", ErrUnauthorized, []string{"sei-sidecar/a/b/c"}},
	} {
		d := &door{audience: api.TokenAudience}
		s := knock(t, d, Options{Tokens: &audiences{}, RefuseShared: true}, Target{PodUID: "p", Audience: c.target})
		if _, err := s.Node(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if got := d.take(); !slices.Equal(got, c.shown) {
			t.Errorf("%s: shown %v, want %v", name, got, c.shown)
		}
		if _, err := s.Health(t.Context()); err != nil {
			t.Errorf("%s: a probe needs no token: %v", name, err)
		}
	}
}

func TestToken_ThatRefusesBoth_IsRefused_AndNotTakenForAnOlderOne(t *testing.T) {
	d := &door{audience: "another"}
	s := knock(t, d, Options{Tokens: &audiences{}}, Target{PodUID: "p", Audience: own})
	for range 2 {
		if _, err := s.Node(t.Context()); !errors.Is(err, ErrUnauthorized) {
			t.Errorf("%v, want %v", err, ErrUnauthorized)
		}
		if got := d.take(); !slices.Equal(got, []string{own, api.TokenAudience}) {
			t.Errorf("shown %v, want %v", got, []string{own, api.TokenAudience})
		}
	}
}

func TestToken_ThatCannotBeHad_IsNoAnswerOfTheSidecar(t *testing.T) {
	d := &door{audience: own}
	s := knock(t, d, Options{Tokens: &audiences{err: errors.New("forbidden")}}, Target{Audience: own})
	_, err := s.Node(t.Context())
	if !errors.Is(err, ErrNoToken) || errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrUnreachable) || len(d.take()) != 0 {
		t.Errorf("%v, want %v, not %v, not %v and none", err, ErrNoToken, ErrUnauthorized, ErrUnreachable)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Node(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrNoToken) {
		t.Errorf("a caller that gave up: %v", err)
	}
}
