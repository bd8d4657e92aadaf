package cli_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"

	seiv1alpha1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/cli"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/test/envtest"
)

func TestMain(m *testing.M) {
	crlog.SetLogger(logr.Discard())
	os.Exit(envtest.Main(m))
}

const image = "registry.example.com/seid:v6.5.0"

// user is somebody who has the plugin and a kubeconfig.
type user struct {
	*envtest.Env
	ns string
}

// newUser has a fleet rpc of two nodes and a node val beside it. No operator runs.
func newUser(t *testing.T) *user {
	t.Helper()
	env := envtest.Shared(t)
	u := &user{Env: env, ns: env.Namespace(t)}
	spec := seiv1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "registry.example.com/seid:v6.4.0", FullNode: &seiv1alpha1.FullNodeSpec{}}
	snd := &seiv1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "rpc", Namespace: u.ns}}
	snd.Spec.Replicas, snd.Spec.Template.Spec = 2, spec
	u.make(t, snd)
	for _, name := range []string{"rpc-0", "rpc-1", "val"} {
		node := &seiv1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: u.ns}, Spec: spec}
		if ordinal, ok := strings.CutPrefix(name, "rpc-"); ok {
			node.Labels = map[string]string{seiv1alpha1.LabelDeployment: "rpc", seiv1alpha1.LabelDeploymentOrdinal: ordinal}
			node.OwnerReferences = []metav1.OwnerReference{*fleet.OwnerReference(snd)}
		}
		u.make(t, node)
	}
	return u
}

func (u *user) make(t *testing.T, obj client.Object) {
	t.Helper()
	if err := u.Client.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// run calls the plugin as kubectl does.
func (u *user) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, errOut bytes.Buffer
	f := cli.NewFactory(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}, clock.RealClock{}, func(string) string { return "" })
	root := cli.NewRoot(f, "test")
	root.SetArgs(append([]string{"--kubeconfig", u.Kubeconfig, "--namespace", u.ns}, args...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func (u *user) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := u.run(t, args...)
	if err != nil {
		t.Fatalf("kubectl sei %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (u *user) node(t *testing.T, name string) *seiv1alpha1.SeiNode {
	t.Helper()
	node := &seiv1alpha1.SeiNode{}
	if err := u.Client.Get(t.Context(), client.ObjectKey{Namespace: u.ns, Name: name}, node); err != nil {
		t.Fatal(err)
	}
	return node
}

func (u *user) fleet(t *testing.T) *seiv1alpha1.SeiNodeDeployment {
	t.Helper()
	fleet := &seiv1alpha1.SeiNodeDeployment{}
	if err := u.Client.Get(t.Context(), client.ObjectKey{Namespace: u.ns, Name: "rpc"}, fleet); err != nil {
		t.Fatal(err)
	}
	return fleet
}

func TestVerbs_ChangeWhatTheySay(t *testing.T) {
	u := newUser(t)
	steps := []struct {
		args []string
		done func() bool
	}{
		{[]string{"pause", "val"}, func() bool { return u.node(t, "val").Spec.Paused }},
		{[]string{"resume", "val"}, func() bool { return !u.node(t, "val").Spec.Paused }},
		{[]string{"pause", "rpc-1"}, func() bool {
			s := u.fleet(t).Spec.Nodes
			return len(s) == 1 && s[0].Ordinal == 1 && *s[0].Paused && !u.node(t, "rpc-1").Spec.Paused
		}},
		{[]string{"resume", "rpc-1"}, func() bool { return len(u.fleet(t).Spec.Nodes) == 0 }},
		{[]string{"rollout", "pause", "rpc"}, func() bool { return u.fleet(t).Spec.Paused }},
		{[]string{"resume", "fleet/rpc"}, func() bool { return !u.fleet(t).Spec.Paused }},
		{[]string{"retry", "val"}, func() bool { return u.node(t, "val").Annotations[seiv1alpha1.AnnotationRetry] != "" }},
		{[]string{"restart", "rpc-0"}, func() bool { return u.node(t, "rpc-0").Annotations[seiv1alpha1.AnnotationRestart] != "" }},
		{[]string{"restart", "rpc"}, func() bool { return u.fleet(t).Spec.Template.Metadata.Annotations[seiv1alpha1.AnnotationRestart] != "" }},
		{[]string{"set", "image", "val", image}, func() bool { return u.node(t, "val").Spec.Image == image }},
		{[]string{"set", "image", "rpc", image}, func() bool { return u.fleet(t).Spec.Template.Spec.Image == image }},
	}
	for _, step := range steps {
		if u.must(t, step.args...); !step.done() {
			t.Errorf("kubectl sei %s did not do it", strings.Join(step.args, " "))
		}
	}
}

func TestDryRunServer_IsCheckedAndNotStored(t *testing.T) {
	u := newUser(t)
	if out := u.must(t, "set", "image", "val", image, "--dry-run=server"); out != "seinode.sei.io/val image updated (server dry run)\n" {
		t.Errorf("printed %q", out)
	}
	if got := u.node(t, "val").Spec.Image; got == image {
		t.Error("the image was stored")
	}
	if _, err := u.run(t, "set", "image", "val", strings.Repeat("x", 1000), "--dry-run=server"); err == nil {
		t.Error("an image that the CRD refuses was accepted")
	}
	if _, err := u.run(t, "set", "image", "rpc", "seid:$(ORDINAL)"); err == nil || !strings.Contains(err.Error(), "ORDINAL") {
		t.Errorf("what the API server says is not told: %v", err)
	}
}

func TestOpRun_EveryKind_IsAcceptedByTheAPIServer(t *testing.T) {
	u := newUser(t)
	gov := []string{"--chain-id", "pacific-1", "--fees", "20000usei", "--gas", "200000"}
	proposal := append([]string{"--title", "t", "--description", "d", "--deposit", "1usei"}, gov...)
	for _, args := range [][]string{
		{"restart-seid", "val"},
		{"restart-seid", "fleet/rpc"},
		{"mark-ready", "val"},
		{"state-sync", "rpc", "--rpc-server", "a.example.com:26657,b.example.com:26657"},
		{"update-node-image", "val", "--image", image},
		{"await-condition", "val", "--height", "100", "--action", "SIGTERM_SEID"},
		{"await-condition", "fleet/rpc", "--caught-up"},
		{"await-nodes-at-height", "fleet/rpc", "--height", "100"},
		append([]string{"gov-vote", "val", "--proposal", "42", "--option", "yes"}, gov...),
		append([]string{"gov-software-upgrade", "val", "--upgrade-name", "v6.5", "--upgrade-height", "100"}, proposal...),
		append([]string{"gov-param-change", "val", "--change", "staking/MaxValidators=50"}, proposal...),
	} {
		if out, err := u.run(t, append([]string{"op", "run"}, args...)...); err != nil || !strings.HasSuffix(out, " created\n") {
			t.Errorf("%v: %q, %v, want that it was created", args, out, err)
		}
	}
	if out := u.must(t, "op", "list", "-o", "name"); strings.Count(out, "seinodetask.sei.io/") != 11 {
		t.Errorf("listed:\n%s", out)
	}
	if _, err := u.run(t, "op", "wait", strings.TrimPrefix(strings.Split(u.must(t, "op", "list", "-o", "name"), "\n")[0], "seinodetask.sei.io/"),
		"--timeout", "1s"); err == nil || !strings.Contains(err.Error(), "not done after 1s") {
		t.Errorf("a task that nobody works on: %v", err)
	}
}

func TestStatusWhyAndHistory_ReadARealAPIServer(t *testing.T) {
	u := newUser(t)
	now := metav1.NowMicro()
	u.make(t, &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "val-", Namespace: u.ns}, EventTime: now, ReportingController: "sei.io/test", ReportingInstance: "test",
		Type: corev1.EventTypeWarning, Reason: "PlanFailed", Action: "Plan", Note: "it went wrong",
		Regarding: corev1.ObjectReference{APIVersion: "sei.io/v1alpha1", Kind: "SeiNode", Name: "val", Namespace: u.ns},
	})
	if out := u.must(t, "status"); !strings.Contains(out, "├─ node/rpc-0") || !strings.Contains(out, "val: all: there is no pod val-0") {
		t.Errorf("status:\n%s", out)
	}
	if out := u.must(t, "why", "val"); !strings.Contains(out, "no operator has looked") || !strings.Contains(out, "it went wrong") {
		t.Errorf("why:\n%s", out)
	}
	if out := u.must(t, "history", "val"); !strings.Contains(out, "PlanFailed") {
		t.Errorf("history:\n%s", out)
	}
	if out := u.must(t, "plan", "val"); !strings.HasPrefix(out, "No plan") {
		t.Errorf("plan:\n%s", out)
	}
	if out := u.must(t, "__complete", "why", "v"); !strings.HasPrefix(out, "val\n") {
		t.Errorf("completion:\n%s", out)
	}
}

// A pod that runs is asked through the API server, which tells in its own words why it cannot.
func TestStatus_APodThatCannotBeAsked_IsExplained(t *testing.T) {
	u := newUser(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "val-0", Namespace: u.ns, Labels: map[string]string{seiv1alpha1.LabelNode: "val"}}}
	pod.Spec.Containers = []corev1.Container{{Name: "seid", Image: image}}
	pod.Spec.NodeName = "nowhere"
	u.make(t, pod)
	pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, "127.0.0.1"
	pod.Status.PodIPs = []corev1.PodIP{{IP: "127.0.0.1"}}
	if err := u.Client.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	out := u.must(t, "status", "val")
	if !strings.Contains(out, "val: sidecar: address not allowed") || !strings.Contains(out, "val: rpc: address not allowed") || !strings.Contains(out, "seid:v6.5.0 -> seid:v6.4.0") {
		t.Errorf("status:\n%s", out)
	}
}

func TestFlags_OfKubectl_AreHeeded(t *testing.T) {
	u := newUser(t)
	if _, err := u.run(t, "status", "--as", "nobody"); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("somebody without rights got %v", err)
	}
	if out := u.must(t, "status", "-A", "-o", "name"); !strings.Contains(out, "seinode.sei.io/val") {
		t.Errorf("all namespaces:\n%s", out)
	}
}
