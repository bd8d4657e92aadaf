package node

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
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
	pool := sidecar.NewPool(sidecar.Options{Tokens: stolen(token), Roots: w.Roots})
	defer pool.CloseIdle()
	_, err := pool.Sidecar(sidecar.Target{
		Address: pod.Status.PodIP + ":7777", Node: w.Key(name), PodUID: string(pod.UID), ServerName: render.ServerName(w.node(name)),
	}).Version(w.T.Context())
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
// only, and has its pod recreated.
func (w nodes) asOlderOperator(name string) *corev1.Pod {
	w.T.Helper()
	return w.withoutVariables(name, render.EnvNodeUID, render.EnvTLSDir)
}

// withoutVariables applies a node's StatefulSet as an operator rendered it that did not know some
// variables of the sidecar, and has its pod recreated.
func (w nodes) withoutVariables(name string, unknown ...string) *corev1.Pod {
	w.T.Helper()
	return w.asOlderTemplate(name, func(spec *corev1ac.PodSpecApplyConfiguration) {
		for i := range spec.InitContainers {
			c := &spec.InitContainers[i]
			c.Env = slices.DeleteFunc(c.Env, func(v corev1ac.EnvVarApplyConfiguration) bool { return slices.Contains(unknown, *v.Name) })
		}
	})
}

// asOlderTemplate applies a node's StatefulSet as another operator rendered it, and has its pod recreated.
func (w nodes) asOlderTemplate(name string, change func(*corev1ac.PodSpecApplyConfiguration)) *corev1.Pod {
	w.T.Helper()
	const hash = "0123456789abcdef"
	applied, err := appsv1ac.ExtractStatefulSet(w.statefulSet(name), v1alpha1.FieldOwnerSeiNode)
	if err != nil {
		w.T.Fatal(err)
	}
	applied.Spec.Template.Annotations[render.AnnotationTemplateHash] = hash
	change(applied.Spec.Template.Spec)
	if err := w.Client.Apply(w.T.Context(), applied, client.FieldOwner(v1alpha1.FieldOwnerSeiNode), client.ForceOwnership); err != nil {
		w.T.Fatal(err)
	}
	pod := &corev1.Pod{}
	w.Get(name+"-0", pod)
	w.Delete(pod)
	return w.awaitPod(name+"-0", func(p *corev1.Pod) bool {
		return p.UID != pod.UID && render.TemplateHash(p.Annotations) == hash && slices.ContainsFunc(p.Status.InitContainerStatuses, func(s corev1.ContainerStatus) bool {
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
	wantMessage(t, n, v1alpha1.ConditionSidecarReady, "is valid for other nodes too")
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
	w.wantLeftAlone("n", pod, "--allow-shared-sidecar-audience is off")
}

// wantLeftAlone checks that a pod of an older operator is not called, that the node says why, and that
// the pod's replacement is all that it takes.
func (w nodes) wantLeftAlone(name string, pod *corev1.Pod, why string) {
	w.T.Helper()
	n := w.await(name, func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionUnknown, v1alpha1.ReasonSidecarUnreachable)
	})
	wantMessage(w.T, n, v1alpha1.ConditionSidecarReady, why)
	w.forceReconciles(name, 2)
	w.wantNotCalled(name, pod)
	w.edit(name, func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRestart: "now"} })
	w.await(name, settled)
	w.sound()
}

// wantNotCalled checks that nobody has called the sidecar of a pod.
func (w nodes) wantNotCalled(name string, pod *corev1.Pod) {
	w.T.Helper()
	for _, r := range w.Sidecars.Requests(w.Key(name)) {
		if r.Pod == pod.UID {
			w.T.Errorf("the pod was asked %s %s", r.Method, r.Path)
		}
	}
}

// A sidecar image that is older than the operator, in a pod of its own making.
func TestTokens_OlderImageInANewPod_WorksAndIsNamed(t *testing.T) {
	w := newOlderWorld(t)
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

// An operator that gets no tokens says so of every node, and continues when it gets some.
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
