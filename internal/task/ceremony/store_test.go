package ceremony

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func (e *Env) withObjects(objects ...client.Object) {
	c := clientfake.NewClientBuilder().WithObjects(objects...).Build()
	e.Client, e.Live = c, c
}

// stored is a ConfigMap with a genesis under the name of the fleet's.
func stored(content string, change func(*corev1.ConfigMap)) *corev1.ConfigMap {
	made := packed(content)
	data, _ := base64.StdEncoding.DecodeString(made.Genesis)
	c := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: "val-genesis", Namespace: "sei",
			Labels:      map[string]string{v1alpha1.LabelDeployment: "val", v1alpha1.LabelGenesis: "demo"},
			Annotations: map[string]string{v1alpha1.AnnotationGenesisHash: made.GenesisHash},
		},
		BinaryData: map[string][]byte{v1alpha1.GenesisDataKey: data},
	}
	if change != nil {
		change(c)
	}
	return c
}

// What stands under the name of the genesis is compared and never written to. (G4)
func TestG4_StoreGenesis_AConfigMapIsThereAlready_IsLeftAsItIs(t *testing.T) {
	for name, tc := range map[string]struct {
		there *corev1.ConfigMap
		want  string
	}{
		"nothing":                 {nil, ""},
		"the same, of an earlier": {stored("genesis", nil), ""},
		"another genesis":         {stored("other", nil), "but the chain started with"},
		"another under our hash": {stored("other", func(c *corev1.ConfigMap) {
			c.Annotations[v1alpha1.AnnotationGenesisHash] = packed("genesis").GenesisHash
		}), "but says that it is"},
		"nobody's":         {stored("genesis", func(c *corev1.ConfigMap) { delete(c.Labels, v1alpha1.LabelDeployment) }), "belongs to no fleet"},
		"somebody's notes": {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "val-genesis", Namespace: "sei"}}, "belongs to no fleet"},
		"another owner's": {stored("genesis", func(c *corev1.ConfigMap) {
			c.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "backup", UID: "theirs", Controller: new(true)}}
		}), "is controlled by Job backup"},
	} {
		t.Run(name, func(t *testing.T) {
			env, _ := newEnv(1)
			env.withObjects()
			if tc.there != nil {
				env.withObjects(tc.there)
			}
			if o := assembleGenesis(t.Context(), env, env.task(fleet.TaskAssembleGenesis)); !o.IsDone() {
				t.Fatalf("assembling: outcome %+v, want done", o)
			}
			o := storeGenesis(t.Context(), env, nil)
			if tc.want == "" && (!o.IsDone() || env.Facts.Stored == nil) || tc.want != "" && (!o.IsTerminal() || !strings.Contains(o.Err.Error(), tc.want)) {
				t.Errorf("outcome %+v, stored %+v, want it done and stored, or this final error: %q", o, env.Facts.Stored, tc.want)
			}
			requireUntouched(t, env, tc.there)
		})
	}
}

func requireUntouched(t *testing.T, env *Env, before *corev1.ConfigMap) {
	t.Helper()
	if before == nil {
		return
	}
	now := &corev1.ConfigMap{}
	if err := env.Live.Get(t.Context(), client.ObjectKeyFromObject(before), now); err != nil {
		t.Fatal(err)
	}
	before.ResourceVersion = now.ResourceVersion
	if diff := cmp.Diff(before, now); diff != "" {
		t.Errorf("it was written to (-before +after):\n%s", diff)
	}
}

// newRestore is a fleet whose chain runs and whose ConfigMap is gone.
func newRestore(count int) (*Env, []*fake) {
	env, fakes := newEnv(count)
	env.withObjects()
	env.Fleet.Status.GenesisHash = packed("genesis").GenesisHash
	env.Plan = fleet.NewCeremony(env.Fleet, platform.Default(), fleet.ReasonGenesisMissing, time.Now())
	return env, fakes
}

// One node that has the genesis will do. (G3)
func TestG3_RestoreGenesis_FromAnyNodeThatHasIt(t *testing.T) {
	other := failed("the genesis of this node has SHA-256 ab", true)
	for name, tc := range map[string]struct {
		change func(*Env, []*fake)
		want   string
		is     func(plan.Outcome) bool
	}{
		"all have it":   {func(*Env, []*fake) {}, "done", plan.Outcome.IsDone},
		"only the last": {func(_ *Env, f []*fake) { f[0].down, f[1].answers[api.ExportGenesis] = errors.New("gone"), other }, "done", plan.Outcome.IsDone},
		"only a full node": {func(e *Env, f []*fake) {
			e.Others, e.Members = []Member{{Name: "full", Sidecar: f[2]}}, []Member{{Name: "val-0"}, e.Members[1]}
			f[1].answers[api.ExportGenesis] = other
		}, "done", plan.Outcome.IsDone},
		"one is down, the others do not have it": {func(_ *Env, f []*fake) {
			f[0].down, f[1].answers[api.ExportGenesis], f[2].answers[api.ExportGenesis] = errors.New("gone"), other, other
		}, "waiting", plan.Outcome.IsWait},
		"nobody has it": {func(_ *Env, f []*fake) {
			for i := range f {
				f[i].answers[api.ExportGenesis] = other
			}
		}, "final", plan.Outcome.IsTerminal},
		"one says so and has another": {func(_ *Env, f []*fake) {
			f[0].answers[api.ExportGenesis] = done(packed("other"))
		}, "tried again", plan.Outcome.IsRetry},
		"all are too old": {func(_ *Env, f []*fake) {
			for i := range f {
				f[i].level = api.LevelNode
			}
		}, "done", plan.Outcome.IsDone},
	} {
		t.Run(name, func(t *testing.T) {
			env, fakes := newRestore(3)
			tc.change(env, fakes)
			o := restoreGenesis(t.Context(), env, env.task(fleet.TaskRestoreGenesis))
			if !tc.is(o) {
				t.Errorf("outcome %+v, want it %s", o, tc.want)
			}
			if s := env.Facts.Stored; o.IsDone() != (s != nil) || s != nil && s.Annotations[v1alpha1.AnnotationGenesisHash] != env.Fleet.Status.GenesisHash {
				t.Errorf("stored %+v, done %t, want it stored with hash %s if done, and not otherwise", s, o.IsDone(), env.Fleet.Status.GenesisHash)
			}
		})
	}
}

// The public operator kept no hash of the genesis: it is that of the validators, and they have to have one.
func TestRestoreGenesis_OfAChainThatAnotherOperatorStarted_IsTheValidators(t *testing.T) {
	has := packed("genesis").GenesisHash
	ran := api.Home{Stage: api.HomeSynced, GenesisHash: has}
	for name, tc := range map[string]struct {
		change func(*Env, []*fake)
		want   string
		is     func(plan.Outcome) bool
	}{
		"all have it":             {func(*Env, []*fake) {}, "done", plan.Outcome.IsDone},
		"one was lost":            {func(_ *Env, f []*fake) { f[0].home = api.Home{Stage: api.HomeEmpty} }, "done", plan.Outcome.IsDone},
		"one was only prepared":   {func(_ *Env, f []*fake) { f[0].home = api.Home{Stage: api.HomePrepared, GenesisHash: "ab"} }, "done", plan.Outcome.IsDone},
		"one is down":             {func(_ *Env, f []*fake) { f[1].down = errors.New("gone") }, "waiting", plan.Outcome.IsWait},
		"one has no sidecar yet":  {func(e *Env, _ []*fake) { e.Members[2].Sidecar = nil }, "waiting", plan.Outcome.IsWait},
		"none has blocks":         {func(_ *Env, f []*fake) { f[0].home, f[1].home, f[2].home = api.Home{}, api.Home{}, api.Home{} }, "waiting", plan.Outcome.IsWait},
		"one is of another chain": {func(_ *Env, f []*fake) { f[2].home.GenesisHash = "ab" }, "final", plan.Outcome.IsTerminal},
	} {
		t.Run(name, func(t *testing.T) {
			env, fakes := newRestore(3)
			env.Fleet.Status.GenesisHash = ""
			for _, f := range fakes {
				f.home = ran
			}
			tc.change(env, fakes)
			o := restoreGenesis(t.Context(), env, env.task(fleet.TaskRestoreGenesis))
			if !tc.is(o) {
				t.Errorf("outcome %+v, want it %s", o, tc.want)
			}
			if s := env.Facts.Stored; o.IsDone() != (s != nil) || s != nil && s.Annotations[v1alpha1.AnnotationGenesisHash] != has {
				t.Errorf("stored %+v, done %t, want it stored with hash %s if done, and not otherwise", s, o.IsDone(), has)
			}
		})
	}
}

// Older sidecars make the genesis again; one that comes out differently is not the chain's.
func TestG3_RestoreGenesis_OlderSidecarsMakeAnother_IsRefused(t *testing.T) {
	env, fakes := newRestore(1)
	fakes[0].level, fakes[0].answers[api.AssembleGenesis] = api.LevelNode, done(packed("other"))
	o := restoreGenesis(t.Context(), env, env.task(fleet.TaskRestoreGenesis))
	if !o.IsTerminal() || !strings.Contains(o.Err.Error(), "but the chain started with") || env.Facts.Stored != nil {
		t.Errorf("outcome %+v, stored %+v, want a final error that the chain started with another, and nothing stored", o, env.Facts.Stored)
	}
}

// Volumes outlive fleets. One that has blocks is not given to another chain of the same name. (G4)
func TestG4_StoreGenesis_AValidatorHasBlocksOfAnotherChain_IsRefused(t *testing.T) {
	ours := packed("genesis").GenesisHash
	for name, tc := range map[string]struct {
		home  api.Home
		level int
		want  bool
	}{
		"new":                          {home: api.Home{Stage: api.HomeEmpty, GenesisHash: "made by init"}, want: true},
		"prepared for another":         {home: api.Home{Stage: api.HomePrepared, GenesisHash: "ab"}, want: true},
		"runs on the same":             {home: api.Home{Stage: api.HomeSynced, GenesisHash: ours}, want: true},
		"runs on another":              {home: api.Home{Stage: api.HomeSynced, GenesisHash: "ab"}},
		"syncs another":                {home: api.Home{Stage: api.HomeFirstSync, GenesisHash: "ab"}},
		"an older sidecar cannot tell": {home: api.Home{Stage: api.HomeSynced, GenesisHash: "ab"}, level: api.LevelDrain, want: true},
		"started, and nobody can tell": {home: api.Home{Stage: api.HomeSynced}, want: true},
	} {
		env, fakes := newEnv(2)
		env.withObjects()
		fakes[1].home, fakes[1].level = tc.home, tc.level
		if o := assembleGenesis(t.Context(), env, env.task(fleet.TaskAssembleGenesis)); !o.IsDone() {
			t.Fatalf("assembling: outcome %+v, want done", o)
		}
		o := storeGenesis(t.Context(), env, nil)
		if o.IsDone() != tc.want || !tc.want && (!o.IsTerminal() || !strings.Contains(o.Err.Error(), "the volume of validator val-1")) {
			t.Errorf("%s: outcome %+v, want done: %t, or a final error about the volume of val-1", name, o, tc.want)
		}
	}
}
