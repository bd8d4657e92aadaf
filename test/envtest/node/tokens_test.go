package node

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// Tokens for sidecars, from the API server that gives them.

// stolen is a token that was made for somebody else.
type stolen string

func (s stolen) Token(context.Context, string) (string, error) { return string(s), nil }

func (stolen) Refused(string, string) {}

func audienceOf(n *v1alpha1.SeiNode) string {
	return api.NodeAudience(n.Namespace, n.Name, string(n.UID))
}

// call asks the sidecar of a node with a token.
func (w nodes) call(name, token string) error {
	w.T.Helper()
	pod := &corev1.Pod{}
	w.Get(name+"-0", pod)
	pool := sidecar.NewPool(sidecar.Options{Tokens: stolen(token)})
	defer pool.CloseIdle()
	_, err := pool.Sidecar(sidecar.Target{Address: pod.Status.PodIP + ":7777", Node: w.Key(name), PodUID: string(pod.UID)}).Version(w.T.Context())
	return err
}

func TestTokens_OfOneNode_OpenNoOther(t *testing.T) {
	w := newOperatedWorld(t)
	a, b := w.bringUp(fullNode("a")), w.bringUp(fullNode("b"))
	before := b.DeepCopy()
	before.UID = "another"
	for name, c := range map[string]struct {
		audience string
		opens    bool
	}{
		"its own":               {audienceOf(b), true},
		"of another node":       {audienceOf(a), false},
		"of a node before it":   {audienceOf(before), false},
		"of all older sidecars": {api.TokenAudience, false},
		"of the API server":     {"https://kubernetes.default.svc", false},
	} {
		if err := w.call("b", w.Token(c.audience)); (err == nil) != c.opens || err != nil && !errors.Is(err, sidecar.ErrUnauthorized) {
			t.Errorf("a token %s: %v", name, err)
		}
	}
	requested := func() int { return len(w.Recorder.All().Of("serviceaccounts/token")) }
	if n := requested(); n != 2 {
		t.Errorf("%d tokens were asked for, want one per node", n)
	}
	w.losePod("a")
	w.await("a", settled)
	if n := requested(); n != 2 {
		t.Errorf("%d tokens were asked for: that of a node is good for its next pod", n)
	}
	w.RestartOperator()
	w.forceReconciles("a", 1)
	w.forceReconciles("b", 1)
	if n := requested(); n != 4 {
		t.Errorf("%d tokens were asked for, want one more per node after a restart", n)
	}
	w.sound()
}

// asOlderOperator leaves a node's StatefulSet as an operator made it that knew the shared audience
// only, and has its pod made anew.
func (w nodes) asOlderOperator(name string) *corev1.Pod {
	w.T.Helper()
	world.Edit(w.World, name, &appsv1.StatefulSet{}, func(s *appsv1.StatefulSet) {
		s.Spec.Template.Annotations[render.AnnotationTemplateHash] = "0123456789abcdef"
		containers := s.Spec.Template.Spec.InitContainers
		for i := range containers {
			containers[i].Env = slices.DeleteFunc(containers[i].Env, func(v corev1.EnvVar) bool { return v.Name == render.EnvNodeUID })
		}
	})
	pod := &corev1.Pod{}
	w.Get(name+"-0", pod)
	w.Delete(pod)
	return w.awaitPod(name+"-0", func(p *corev1.Pod) bool {
		return p.UID != pod.UID && render.NodeUID(p.Spec) == "" && slices.ContainsFunc(p.Status.InitContainerStatuses, func(s corev1.ContainerStatus) bool {
			return s.Name == render.ContainerSidecar && s.State.Running != nil
		})
	})
}

// An upgrade of the operator restarts nothing: pods of the older one keep the shared audience, and
// are named, until they are replaced.
func TestTokens_OperatorUpgrade_OlderPodsGoOnAndAreNamed(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.Stop()
	pod := w.asOlderOperator("n")
	w.StartOperator()
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionTrue, v1alpha1.ReasonSharedAudience)
	})
	wantMessage(t, n, v1alpha1.ConditionSidecarReady, "opens other nodes too")
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, v1alpha1.ReasonPendingRestart)
	})
	w.forceReconciles("n", 3)
	now := &corev1.Pod{}
	if w.Get("n-0", now); now.UID != pod.UID {
		t.Fatalf("the upgrade replaced pod %s by %s", pod.UID, now.UID)
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRestart: "now"} })
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionTrue, v1alpha1.ReasonSidecarReady)
	})
	if err := w.call("n", w.Token(api.TokenAudience)); !errors.Is(err, sidecar.ErrUnauthorized) {
		t.Errorf("the shared token opens the new pod: %v", err)
	}
	w.sound()
}

// With the flag off a pod of an older operator is shown no token, and its replacement is all that it
// takes.
func TestTokens_SharedAudienceNotAllowed_OlderPodsAreNotCalled(t *testing.T) {
	w := newWorld(t)
	w.RefuseShared = true
	w.StartOperator()
	w.bringUp(fullNode("n"))
	w.Stop()
	pod := w.asOlderOperator("n")
	w.StartOperator()
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionUnknown, v1alpha1.ReasonSidecarUnreachable)
	})
	wantMessage(t, n, v1alpha1.ConditionSidecarReady, "--allow-shared-sidecar-audience is off")
	w.forceReconciles("n", 2)
	for _, r := range w.Sidecars.Requests(w.Key("n")) {
		if r.Pod == pod.UID {
			t.Errorf("the older pod was asked %s %s", r.Method, r.Path)
		}
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRestart: "now"} })
	w.await("n", settled)
	w.sound()
}

// A sidecar image that is older than the operator, in a pod of its own making.
func TestTokens_OlderImageInANewPod_WorksAndIsNamed(t *testing.T) {
	w := newOperatedWorld(t)
	w.Sidecars.SetLevel(w.Key("n"), api.LevelNodeToken-1)
	w.Create(fullNode("n"))
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionTrue, v1alpha1.ReasonSharedAudience)
	})
	refused := slices.DeleteFunc(w.Sidecars.Requests(w.Key("n")), func(r sidecarsim.Request) bool { return r.Status != http.StatusUnauthorized })
	if len(refused) > 2 { // two calls may begin before the first answer
		t.Errorf("%d calls were refused: what a sidecar accepts is not remembered", len(refused))
	}
	w.sound()
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An operator that gets no tokens says so of every node, and goes on when it gets some.
func TestTokens_ThatCannotBeHad_AreNoSilentSidecar(t *testing.T) {
	w := newWorld(t)
	var away atomic.Bool
	w.Config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if away.Load() && strings.HasSuffix(r.URL.Path, "/token") {
				return nil, errors.New("no tokens today")
			}
			return next.RoundTrip(r)
		})
	})
	w.StartOperator()
	w.bringUp(fullNode("n"))
	away.Store(true)
	w.RestartOperator()
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionUnknown, v1alpha1.ReasonSidecarUnreachable)
	})
	wantMessage(t, n, v1alpha1.ConditionSidecarReady, "no token")
	away.Store(false)
	w.await("n", settled)
	w.sound()
}
