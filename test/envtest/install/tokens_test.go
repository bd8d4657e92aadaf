package install_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/tokens"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// The manifests' role lets the operator have tokens of its own account and of no other.
func TestTokens_OfOtherAccounts_AreForbidden(t *testing.T) {
	env := install(t)
	newAccount(t, env, namespace, "neighbour", "")
	ns := env.Namespace(t)
	newAccount(t, env, ns, account, "")
	api, err := kubernetes.NewForConfig(asAccount(env, token(t, env, namespace, account)))
	if err != nil {
		t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"sei-sidecar/a/b/c"}}}
	for _, c := range []struct {
		namespace, name string
		allowed         bool
	}{
		{namespace, account, true},
		{namespace, "neighbour", false},
		{namespace, "default", false},
		{ns, account, false},
	} {
		_, err := api.CoreV1().ServiceAccounts(c.namespace).CreateToken(t.Context(), c.name, request, metav1.CreateOptions{})
		if (err == nil) != c.allowed || err != nil && !apierrors.IsForbidden(err) {
			t.Errorf("a token of %s/%s: %v", c.namespace, c.name, err)
		}
	}
}

// An operator that starts with 500 nodes asks for 500 tokens, a few at a time.
func TestTokens_ColdStartWith500Nodes_AFewRequestsAtATime(t *testing.T) {
	env := install(t)
	config, recorder := asAccount(env, token(t, env, namespace, account)), envtest.NewRecorder()
	var mu sync.Mutex
	now, most := 0, 0
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return recorder.Wrap(roundTrip(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				now--
			}()
			return next.RoundTrip(r)
		}))
	})
	api, err := corev1client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mint, err := tokens.Requests(api, "system:serviceaccount:"+namespace+":"+account)
	if err != nil {
		t.Fatal(err)
	}
	cache := tokens.NewCache(mint, clock.RealClock{})
	const nodes = 500
	began := time.Now()
	for range 2 {
		var all sync.WaitGroup
		for i := range nodes {
			all.Go(func() {
				if _, err := cache.Token(t.Context(), fmt.Sprintf("sei-sidecar/nodes/n-%d/u", i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	t.Logf("%d tokens in %s, at most %d requests at a time", nodes, time.Since(began).Round(time.Millisecond), most)
	if n := len(recorder.All().Of("serviceaccounts/token")); n != nodes || most > 8 {
		t.Errorf("%d requests, up to %d at a time; want %d, up to 8", n, most, nodes)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
