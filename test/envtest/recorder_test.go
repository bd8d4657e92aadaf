package envtest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1alpha1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// recordedClient makes a client whose requests are written down. The mapper is
// asked beforehand, so that no discovery requests are in the record.
func recordedClient(t *testing.T, env *envtest.Env) (client.WithWatch, *envtest.Recorder) {
	t.Helper()
	config, recorder := env.Recorded()
	c, err := client.NewWithWatch(config, client.Options{Scheme: env.Scheme, Mapper: env.Client.RESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	return c, recorder
}

func TestRecorder_SeesVerbResourceObjectAndCode(t *testing.T) {
	env := envtest.Shared(t)
	ns := env.Namespace(t)
	c, recorder := recordedClient(t, env)

	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}}
	node := &seiv1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "n"},
		Spec:       seiv1alpha1.SeiNodeSpec{ChainID: "c", Image: "i", FullNode: &seiv1alpha1.FullNodeSpec{}},
	}
	generated := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, GenerateName: "some-"}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`))
	steps := []func() error{
		func() error { return c.Create(t.Context(), cm) },
		func() error { return c.Create(t.Context(), generated) },
		func() error { return c.Create(t.Context(), node) },
		func() error { return c.Status().Patch(t.Context(), node, patch) },
		func() error { return c.Get(t.Context(), client.ObjectKeyFromObject(cm), cm) },
		func() error { return c.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(ns)) },
		func() error { return c.Delete(t.Context(), cm) },
		func() error { return client.IgnoreNotFound(c.Delete(t.Context(), cm)) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	want := []string{
		"create configmaps " + ns + "/a -> 201",
		"create configmaps " + ns + "/some-* -> 201",
		"create seinodes " + ns + "/n -> 201",
		"patch seinodes/status " + ns + "/n -> 200",
		"get configmaps " + ns + "/a -> 200",
		"list configmaps " + ns + "/ -> 200",
		"delete configmaps " + ns + "/a -> 200",
		"delete configmaps " + ns + "/a -> 404",
	}
	var got []string
	for _, r := range recorder.All() {
		got = append(got, r.String())
		if r.UserAgent == "" || r.Time.IsZero() {
			t.Errorf("%s lacks user agent or time", r)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(recorder.All().Writes()); n != 6 {
		t.Errorf("%d writes, want 6", n)
	}
	if n := len(recorder.All().Reads()); n != 2 {
		t.Errorf("%d reads, want 2", n)
	}
	if got := recorder.All().Answered(404).Of("configmaps").Named("a").ByVerbAndTarget(); got["delete configmaps"] != 1 {
		t.Errorf("filters find %v", got)
	}
}

func TestRecorder_SinceAMarkTellsWhatIsNew(t *testing.T) {
	env := envtest.Shared(t)
	ns := env.Namespace(t)
	c, recorder := recordedClient(t, env)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}}
	if err := c.Create(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	mark := recorder.Mark()
	recorder.Since(mark).RequireNone(t, "right after the mark")
	if err := c.Update(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	if got := recorder.Since(mark); len(got) != 1 || got[0].Verb != "update" {
		t.Errorf("since the mark: %v, want one update", got)
	}
	table := recorder.All().Table()
	for _, want := range []string{"create  configmaps  1", "update  configmaps  1"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

// The list and watch with which an informer starts are no reads of the code's own.
func TestRecorder_TellsInformersFromReads(t *testing.T) {
	env := envtest.Shared(t)
	ns := env.Namespace(t)
	c, recorder := recordedClient(t, env)
	var list corev1.ConfigMapList
	if err := c.List(t.Context(), &list, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(t.Context(), &list, client.InNamespace(ns))
	if err != nil {
		t.Fatal(err)
	}
	w.Stop()
	recorder.All().Reads().RequireNone(t, "reads of an informer")
	if n := len(recorder.All().Watches()); n != 1 {
		t.Errorf("%d watches, want 1", n)
	}
}

func TestRecorder_LeavesTheConfigurationItCopiesAlone(t *testing.T) {
	env := envtest.Shared(t)
	config, _ := env.Recorded()
	if env.Config.WrapTransport != nil || config.WrapTransport == nil {
		t.Error("the recorder belongs into the copy only")
	}
	if rest.CopyConfig(env.Config).Host != config.Host {
		t.Error("the copy points elsewhere")
	}
}
