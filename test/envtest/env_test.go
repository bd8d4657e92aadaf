package envtest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sei-operator/sei-operator/test/envtest"
)

func TestControlPlane_IsOfTheVersionThatWasAskedFor(t *testing.T) {
	env := envtest.Shared(t)
	if os.Getenv("KUBEBUILDER_ASSETS") != "" {
		t.Logf("KUBEBUILDER_ASSETS decides: %s", env.Version.GitVersion)
		return
	}
	want := os.Getenv("K8S_VERSION")
	if want == "" {
		want = "1.37.1"
	}
	if got := strings.TrimPrefix(env.Version.GitVersion, "v"); got != want {
		t.Errorf("the API server is %s, want %s", got, want)
	}
	if !env.AtLeast(34) || env.AtLeast(99) {
		t.Errorf("AtLeast is wrong for %s", env.Version.GitVersion)
	}
}

func TestControlPlane_ServesTheCRDsWithoutComplaint(t *testing.T) {
	env := envtest.Shared(t)
	for _, name := range []string{"seinodes.sei.io", "seinodedeployments.sei.io", "seinodetasks.sei.io"} {
		crd := envtest.WaitFor(t, env, "", name, func(crd *apiextensionsv1.CustomResourceDefinition) bool {
			return crd != nil && crdCondition(crd, apiextensionsv1.Established) == apiextensionsv1.ConditionTrue
		})
		for _, bad := range []apiextensionsv1.CustomResourceDefinitionConditionType{
			apiextensionsv1.NonStructuralSchema, apiextensionsv1.KubernetesAPIApprovalPolicyConformant,
		} {
			if crdCondition(crd, bad) == apiextensionsv1.ConditionTrue {
				t.Errorf("%s has condition %s", name, bad)
			}
		}
	}
}

func crdCondition(crd *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType) apiextensionsv1.ConditionStatus {
	for _, c := range crd.Status.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return apiextensionsv1.ConditionUnknown
}

func TestInstallGatewayAPI_MakesRoutesKnown(t *testing.T) {
	env := envtest.Shared(t)
	env.InstallGatewayAPI(t)
	var routes gatewayv1.HTTPRouteList
	if err := env.Client.List(t.Context(), &routes); err != nil {
		t.Error(err)
	}
}

func TestAs_IsBoundByPermissions(t *testing.T) {
	env := envtest.Shared(t)
	c, err := client.New(env.As("somebody"), client.Options{Scheme: env.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	var secrets corev1.SecretList
	if err := c.List(t.Context(), &secrets); !isForbidden(err) {
		t.Errorf("listing secrets as nobody in particular: %v, want Forbidden", err)
	}
}

func TestNamespace_IsTheTestsOwnAndGoesAway(t *testing.T) {
	env := envtest.Shared(t)
	var first, second string
	t.Run("first", func(t *testing.T) { first = env.Namespace(t) })
	t.Run("second", func(t *testing.T) { second = env.Namespace(t) })
	if first == second {
		t.Errorf("both tests got namespace %s", first)
	}
	envtest.WaitGone[corev1.Namespace](t, env, "", first)
}

func TestDump_WritesObjectsAndEvents(t *testing.T) {
	env := envtest.Shared(t)
	ns := env.Namespace(t)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "evidence"}, Data: map[string]string{"found": "here"}}
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: ns, Name: "e1"},
		InvolvedObject: corev1.ObjectReference{Kind: "ConfigMap", Name: "evidence", Namespace: ns},
		Type:           "Warning", Reason: "SomethingHappened", Message: "and this is what",
	}
	for _, obj := range []client.Object{cm, event} {
		if err := env.Client.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if err := env.Dump(t.Context(), ns, dir); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"configmaps.yaml": "found: here",
		"events.txt":      "Warning ConfigMap/evidence SomethingHappened: and this is what",
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q (%v):\n%s", file, want, err, text)
		}
	}
}

// A test process that is killed must not leave a control plane behind.
func TestControlPlane_DiesWithItsTestProcess(t *testing.T) {
	if os.Getenv("ENVTEST_VICTIM") != "" {
		cp, err := envtest.StartControlPlane(t.Context(), envtest.WithoutCRDs())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("pids " + strconv.Itoa(cp.Etcd.PID) + " " + strconv.Itoa(cp.APIServer.PID) + " " +
			strconv.Itoa(cp.ControllerManager.PID) + "\n")
		select {} // until killed
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	victim := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestControlPlane_DiesWithItsTestProcess$")
	victim.Env = append(os.Environ(), "ENVTEST_VICTIM=yes")
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	pids := readPIDs(t, out)
	handles := make([]*pidfd, 0, len(pids))
	for _, pid := range pids {
		handles = append(handles, openPID(t, pid))
	}
	if err := victim.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait()
	for _, h := range handles {
		h.awaitEnd(t)
	}
}
