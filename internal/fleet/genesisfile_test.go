package fleet_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

func zipped(content string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(content))
	_ = w.Close()
	return out.Bytes()
}

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// storedGenesis is a ConfigMap with a genesis, as a fleet of the name val left it.
func storedGenesis(name, content string, change func(*corev1.ConfigMap)) *corev1.ConfigMap {
	c := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{v1alpha1.LabelDeployment: "val", v1alpha1.LabelGenesis: "demo"},
			Annotations: map[string]string{v1alpha1.AnnotationGenesisHash: hashOf(content)},
		},
		BinaryData: map[string][]byte{v1alpha1.GenesisDataKey: zipped(content)},
	}
	if change != nil {
		change(c)
	}
	return c
}

func TestReadGenesis_HashOfTheWholeFileAndItsValidators(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		want    []string
	}{
		"validators between others": {`{"app_state":{"a":[{"validators":[{"address":"no"}]}]},"validators":[{"address":"AA","power":"1"},{"address":"BB"}],"z":1}`, []string{"AA", "BB"}},
		"none":                      {`{"app_state":{}}`, nil},
		"null":                      {`{"validators":null}`, nil},
		"not of that form":          {`{"validators":{"address":"AA"}}`, nil},
		"no object":                 {`[1]`, nil},
		"no JSON":                   {"genesis", nil},
		"empty":                     {"", nil},
	} {
		got, err := fleet.ReadGenesis(zipped(tc.content))
		if err != nil || got.Hash != hashOf(tc.content) || !slices.Equal(got.Validators, tc.want) {
			t.Errorf("%s: %+v, %v, want hash %s and validators %v", name, got, err, hashOf(tc.content), tc.want)
		}
	}
	if _, err := fleet.ReadGenesis([]byte("no gzip")); err == nil {
		t.Error("what is not compressed was taken")
	}
}

// A ConfigMap under the right name is looked at before it is believed. (G4)
func TestG4_GenesisProblem_NamesWhatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*corev1.ConfigMap)
		began  string
		want   string
	}{
		"left by an earlier fleet": {nil, "", ""},
		"the one it began with":    {nil, hashOf("{}"), ""},
		"another":                  {nil, hashOf("other"), "but the chain started with " + hashOf("other")},
		"without a note":           {func(c *corev1.ConfigMap) { c.Annotations = nil }, "", "has no annotation"},
		"with a false note":        {func(c *corev1.ConfigMap) { c.Annotations[v1alpha1.AnnotationGenesisHash] = "ab" }, "", "but says that it is ab"},
		"without data":             {func(c *corev1.ConfigMap) { c.BinaryData = nil }, "", "holds no genesis"},
		"in the bucket": {func(c *corev1.ConfigMap) {
			c.BinaryData, c.Annotations[v1alpha1.AnnotationGenesisInBucket] = nil, "true"
		}, "", ""},
		"of another chain": {func(c *corev1.ConfigMap) { c.Labels[v1alpha1.LabelGenesis] = "x" }, "", "no genesis of chain demo"},
		"of nobody":        {func(c *corev1.ConfigMap) { delete(c.Labels, v1alpha1.LabelDeployment) }, "", "belongs to no fleet"},
		"of nobody, later": {func(c *corev1.ConfigMap) { delete(c.Labels, v1alpha1.LabelDeployment) }, hashOf("{}"), "belongs to no fleet"},
	} {
		got := fleet.GenesisProblem(genesisFleet(), storedGenesis("val-genesis", "{}", tc.change), tc.began)
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q in it, or nothing for nothing", name, got, tc.want)
		}
	}
}

// Of the fleets that ask to start one chain exactly one may, whoever is asked. (G4)
func TestG4_DecideCeremony_TwoFleetsOfOneChain_OneRuns(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	founder := func(name string, age time.Duration, change func(*v1alpha1.SeiNodeDeployment)) v1alpha1.SeiNodeDeployment {
		snd := genesisFleet()
		snd.Name, snd.UID, snd.CreationTimestamp = name, types.UID("uid of "+name), metav1.NewTime(now.Add(-age))
		if change != nil {
			change(snd)
		}
		return *snd
	}
	begun := func(s *v1alpha1.SeiNodeDeployment) { s.Status.GenesisHash = "ab" }
	running := func(s *v1alpha1.SeiNodeDeployment) { s.Status.Plan = &v1alpha1.TaskPlan{Phase: v1alpha1.PlanActive} }
	leaving := func(s *v1alpha1.SeiNodeDeployment) { s.DeletionTimestamp = new(metav1.NewTime(now)) }
	for name, tc := range map[string]struct {
		fleets []v1alpha1.SeiNodeDeployment
		want   string
	}{
		"the older one":            {[]v1alpha1.SeiNodeDeployment{founder("a", 0, nil), founder("b", time.Second, nil)}, "b"},
		"of one second, by name":   {[]v1alpha1.SeiNodeDeployment{founder("b", 0, running), founder("a", 0, nil)}, "a"},
		"the one that has begun":   {[]v1alpha1.SeiNodeDeployment{founder("a", time.Hour, nil), founder("b", 0, begun)}, "b"},
		"not one that is on leave": {[]v1alpha1.SeiNodeDeployment{founder("a", time.Hour, leaving), founder("b", 0, nil)}, "b"},
		"three":                    {[]v1alpha1.SeiNodeDeployment{founder("a", 0, nil), founder("b", 2, nil), founder("c", time.Hour, nil)}, "c"},
	} {
		for i := range tc.fleets {
			snd := &tc.fleets[i]
			got := fleet.DecideCeremony(snd, fleet.CeremonyFacts{Founders: tc.fleets}, now)
			if snd.DeletionTimestamp == nil && (got.State != fleet.CeremonyBlocked) != (snd.Name == tc.want) {
				t.Errorf("%s: %s gets %+v", name, snd.Name, got)
			}
			if got.State == fleet.CeremonyBlocked && !strings.Contains(got.Message, "SeiNodeDeployment "+tc.want+" starts chain demo already") {
				t.Errorf("%s: %s is told %q", name, snd.Name, got.Message)
			}
		}
	}
}

// A chain that exists keeps its genesis, whatever takes the place of the ConfigMap. (G3, G4)
func TestG4_DecideCeremony_AfterTheCeremony_AnotherGenesisIsNamed(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	snd := genesisFleet()
	snd.Status.GenesisHash = hashOf("{}")
	snd.Status.Plan = &v1alpha1.TaskPlan{Phase: v1alpha1.PlanActive, Reason: fleet.ReasonGenesisMissing}
	seen := fleet.CeremonyFacts{Genesis: []corev1.ConfigMap{*storedGenesis("val-genesis", "other", nil)}}
	if got := fleet.DecideCeremony(snd, seen, now); got.State != fleet.CeremonyConflict || !strings.Contains(got.Message, "is restored from a node") {
		t.Errorf("%+v, want State %v and %q in it", got, fleet.CeremonyConflict, "is restored from a node")
	}
	restore := fleet.NewCeremony(snd, platform.Default(), fleet.ReasonGenesisMissing, now)
	if len(restore.Tasks) != 1 || restore.Tasks[0].Type != fleet.TaskRestoreGenesis {
		t.Errorf("a lost genesis is restored by %+v", restore.Tasks)
	}
}

// A validator whose keys are new is no validator of the chain. (G2)
func TestG2_NotInGenesis_NamesTheKey(t *testing.T) {
	node := &v1alpha1.SeiNode{}
	node.Status.ConsensusAddress = "AA"
	for name, tc := range map[string]struct {
		validators []string
		address    string
		problem    bool
	}{
		"one of them":      {[]string{"BB", "AA"}, "AA", false},
		"none of them":     {[]string{"BB", "CC"}, "AA", true},
		"nobody can tell":  {nil, "AA", false},
		"no key known yet": {[]string{"BB"}, "", false},
	} {
		node.Status.ConsensusAddress = tc.address
		if got := fleet.NotInGenesis(node, tc.validators); (got != "") != tc.problem || tc.problem && !strings.Contains(got, "AA") {
			t.Errorf("%s: %q, want a problem with AA: %t", name, got, tc.problem)
		}
	}
}

func TestGenesisValidators_NotedOrRead(t *testing.T) {
	content := `{"validators":[{"address":"AA"},{"address":"BB"}]}`
	older := storedGenesis("val-genesis", content, nil)
	noted := storedGenesis("val-genesis", content, func(c *corev1.ConfigMap) {
		c.BinaryData, c.Annotations[v1alpha1.AnnotationGenesisValidators] = nil, "AA,BB"
	})
	nothing := storedGenesis("val-genesis", content, func(c *corev1.ConfigMap) { c.BinaryData = nil })
	for _, c := range []*corev1.ConfigMap{older, noted} {
		if got := fleet.GenesisValidators(c); !slices.Equal(got, []string{"AA", "BB"}) {
			t.Errorf("validators %v, want AA and BB", got)
		}
	}
	if got := fleet.GenesisValidators(nothing); got != nil {
		t.Errorf("validators %v, want nil", got)
	}
}
