package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// validators is a fleet that starts a chain.
func validators(name string, replicas int32) *v1alpha1.SeiNodeDeployment {
	snd := rpc(name, replicas)
	snd.Spec.Template.Spec = v1alpha1.SeiNodeSpec{ChainID: "demo", Image: "seid:a", Validator: &v1alpha1.ValidatorSpec{}}
	snd.Spec.Genesis = &v1alpha1.GenesisCeremony{
		ChainID:  "demo",
		Accounts: []v1alpha1.GenesisAccount{{Address: "sei1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq703fpu", Balance: "5usei"}},
	}
	return snd
}

// chain stands in for the chain binary of the simulated sidecars: a gentx names its
// validator, and a genesis is what it was assembled from.
type chain struct {
	mu       sync.Mutex
	sidecars *sidecarsim.Sidecars
	// ballast makes the genesis large.
	ballast []byte
	// configured is what each node was told to begin with.
	configured map[string]wire.ConfigureGenesis
	peers      map[string][]string
	// assembled is what the last genesis was made from.
	assembled json.RawMessage
}

func (w fleets) chain() *chain {
	c := &chain{sidecars: w.Sidecars, configured: map[string]wire.ConfigureGenesis{}, peers: map[string][]string{}}
	w.Sidecars.Program("", api.ExportGentx, sidecarsim.Outcome{Do: func(_ context.Context, call sidecarsim.Call) (any, error) {
		return wire.Gentx{Gentx: json.RawMessage(`{"validator":"` + call.Node + `"}`)}, nil
	}})
	w.Sidecars.Program("", api.AssembleGenesis, sidecarsim.Outcome{Do: c.assemble})
	w.Sidecars.Program("", api.AssembleAndUploadGenesis, sidecarsim.Outcome{Do: func(context.Context, sidecarsim.Call) (any, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, hash := c.genesis(c.assembled)
		return wire.UploadedGenesis{GenesisHash: hash}, nil
	}})
	w.Sidecars.Program("", api.ConfigureGenesis, sidecarsim.Outcome{Do: func(_ context.Context, call sidecarsim.Call) (any, error) {
		return nil, keep(c, c.configured, call)
	}})
	w.Sidecars.Program("", api.ExportGenesis, sidecarsim.Outcome{Do: c.export})
	w.Sidecars.Program("", api.SetGenesisPeers, sidecarsim.Outcome{Do: func(_ context.Context, call sidecarsim.Call) (any, error) {
		var p wire.SetGenesisPeers
		err := json.Unmarshal(call.Params, &p)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.peers[call.Node] = p.Peers
		return nil, err
	}})
	return c
}

func keep[T any](c *chain, into map[string]T, call sidecarsim.Call) error {
	var p T
	if len(call.Params) > 0 {
		if err := json.Unmarshal(call.Params, &p); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	into[call.Node] = p
	return nil
}

func (c *chain) assemble(_ context.Context, call sidecarsim.Call) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.assembled = call.Params
	packed, hash := c.genesis(call.Params)
	return wire.AssembledGenesis{Genesis: base64.StdEncoding.EncodeToString(packed), GenesisHash: hash}, nil
}

// export gives the genesis that a node was configured with.
func (c *chain) export(_ context.Context, call sidecarsim.Call) (any, error) {
	var p wire.ExportGenesis
	if err := json.Unmarshal(call.Params, &p); err != nil {
		return nil, err
	}
	has := c.of(call.Node)
	if has.Genesis == "" || has.ExpectedGenesisHash != p.ExpectedGenesisHash {
		return nil, api.Terminal(api.CodePrecondition, errors.New("this node has another genesis"))
	}
	return wire.ExportedGenesis{Genesis: has.Genesis, GenesisHash: has.ExpectedGenesisHash}, nil
}

// withValidators is a genesis that lists the keys on the volumes of the validators it is made of.
func (c *chain) withValidators(from json.RawMessage) json.RawMessage {
	var made wire.AssembleGenesis
	var document map[string]any
	if json.Unmarshal(from, &made) != nil || json.Unmarshal(from, &document) != nil {
		return from
	}
	var list []map[string]string
	for _, gentx := range made.Gentxs {
		var tx struct{ Validator string }
		_ = json.Unmarshal(gentx, &tx)
		list = append(list, map[string]string{"address": c.sidecars.VolumeKey(tx.Validator)})
	}
	document["validators"] = list
	raw, err := json.Marshal(document)
	if err != nil {
		return from
	}
	return raw
}

func (c *chain) genesis(from json.RawMessage) (packed []byte, hash string) {
	raw := slices.Concat(c.withValidators(from), c.ballast)
	sum := sha256.Sum256(raw)
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	_, _ = zipped.Write(raw)
	_ = zipped.Close()
	return out.Bytes(), hex.EncodeToString(sum[:])
}

func (c *chain) of(node string) wire.ConfigureGenesis {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.configured[node]
}

func count(list []api.TaskType, task api.TaskType) int {
	n := 0
	for _, t := range list {
		if t == task {
			n++
		}
	}
	return n
}

func (w fleets) genesis(name string) *corev1.ConfigMap {
	w.T.Helper()
	c := &corev1.ConfigMap{}
	w.Get(name, c)
	return c
}

// contents is what a stored genesis was made from.
func contents(t *testing.T, stored *corev1.ConfigMap) wire.AssembleGenesis {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(stored.BinaryData[v1alpha1.GenesisDataKey]))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	var made wire.AssembleGenesis
	if err := json.Unmarshal(raw, &made); err != nil {
		t.Fatal(err)
	}
	return made
}

// requireMember checks what one of four validators was told in its ceremony.
func (w fleets) requireMember(c *chain, i int, hash string) {
	w.T.Helper()
	node := w.Key(child("val", i))
	if p := c.of(node); p.ExpectedGenesisHash != hash || p.Genesis == "" {
		w.T.Errorf("%s was not told to verify the genesis: %q", node, p.ExpectedGenesisHash)
	}
	sent := w.Sidecars.Submissions(node)
	if count(sent, api.ExportGentx) != 1 || count(sent, api.AssembleGenesis) != map[bool]int{true: 1}[i == 0] {
		w.T.Errorf("%s was sent %v", node, sent)
	}
	n := w.Node(child("val", i))
	if len(n.Status.ResolvedPeers) != 3 || int(n.Spec.Validator.GenesisCeremony.Index) != i {
		w.T.Errorf("%s has peers %v", n.Name, n.Status.ResolvedPeers)
	}
}

func TestCeremony_FourValidators_StartAChainWithoutABucket(t *testing.T) {
	w := newOperatedWorld(t)
	c := w.chain()
	began := time.Now()
	got := w.bringUp(validators("val", 4))
	t.Logf("from creation to four validators in sync: %s", time.Since(began).Round(time.Millisecond))
	stored := w.genesis("val-genesis")
	hash := stored.Annotations[v1alpha1.AnnotationGenesisHash]
	wantCondition(t, got, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, v1alpha1.ReasonCeremonyComplete)
	wantCondition(t, got, v1alpha1.ConditionPlanInProgress, metav1.ConditionFalse, v1alpha1.ReasonPlanComplete)
	if s := got.Status; s.GenesisHash != hash || s.GenesisConfigMap != "val-genesis" || s.Plan != nil {
		t.Errorf("genesis %s in ConfigMap %q, plan %+v, want %s in val-genesis and no plan", s.GenesisHash, s.GenesisConfigMap, s.Plan, hash)
	}
	if stored.Immutable == nil || !*stored.Immutable || !metav1.IsControlledBy(stored, got) || stored.Labels[v1alpha1.LabelGenesis] != "demo" {
		t.Errorf("ConfigMap %+v, want it immutable, of the fleet and with the label of chain demo", stored)
	}
	made := contents(t, stored)
	if len(made.Gentxs) != 4 || !strings.Contains(string(made.Gentxs[2]), w.Key("val-2")) || len(made.Accounts) != 1 || made.AccountBalance == "" {
		t.Errorf("the genesis was made from %+v, want 4 gentxs, the third of val-2, one account and a balance", made)
	}
	for i := range 4 {
		w.requireMember(c, i, hash)
	}
	w.AwaitEvent("", events.CeremonyComplete)

	// Full nodes of the chain find its genesis by the chain's id.
	w.Create(&v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "full"}, Spec: v1alpha1.SeiNodeSpec{
		ChainID: "demo", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{},
		Peers: []v1alpha1.PeerSource{{Label: &v1alpha1.LabelPeers{Selector: map[string]string{v1alpha1.LabelDeployment: "val"}}}},
	}})
	full := w.AwaitNode("full", up)
	w.AwaitEvent("full", events.PhaseChanged)
	if p := c.of(w.Key("full")); p.ExpectedGenesisHash != hash || len(full.Status.ResolvedPeers) != 4 {
		t.Errorf("the full node got genesis %q and peers %v, want %q and 4 peers", p.ExpectedGenesisHash, full.Status.ResolvedPeers, hash)
	}
	w.forceReconcile("val")
	mark := w.Recorder.Mark()
	for range 5 {
		w.forceReconcile("val")
	}
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes of a settled chain")
}

func TestCeremony_Complete_IsNeverRunAgainWhateverIsDeleted(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	snd := validators("val", 2)
	snd.Spec.DeletionPolicy = v1alpha1.VolumeRetain
	hash := w.bringUp(snd).Status.GenesisHash
	old := w.genesis("val-genesis")
	w.Delete(old)
	again := envtest.WaitReplaced(t, w.Env, old, func(*corev1.ConfigMap) bool { return true })
	if again.Annotations[v1alpha1.AnnotationGenesisHash] != hash {
		t.Errorf("another genesis took its place: annotations %v, want hash %s", again.Annotations, hash)
	}
	w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool { return settled(s) && s.Status.Plan == nil })

	// A fleet that is made again finds the genesis of the one before.
	w.Delete(w.fleet("val"))
	envtest.WaitGone[v1alpha1.SeiNodeDeployment](t, w.Env, w.NS, "val")
	if c := w.genesis("val-genesis"); len(c.OwnerReferences) > 0 {
		t.Errorf("the retained genesis is still owned: %v", c.OwnerReferences)
	}
	assembled := count(w.Sidecars.Submissions(w.Key("val-0")), api.AssembleGenesis)
	got := w.bringUp(validators("val", 2))
	if got.Status.GenesisHash != hash || !metav1.IsControlledBy(w.genesis("val-genesis"), got) {
		t.Errorf("genesis %s, want %s, which is in a ConfigMap of the new fleet: %v", got.Status.GenesisHash, hash, w.genesis("val-genesis").OwnerReferences)
	}
	if now := count(w.Sidecars.Submissions(w.Key("val-0")), api.AssembleGenesis); now != assembled {
		t.Errorf("the ceremony was run again: %d assemblies, then %d", assembled, now)
	}
}

// A genesis that differs from the one the chain began with is never stored.
func TestCeremony_LostGenesisThatNobodyHas_IsRefused(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	w.bringUp(validators("val", 1))
	w.Sidecars.Program("", api.ExportGenesis, sidecarsim.Outcome{
		Error: api.Terminal(api.CodePrecondition, errors.New("the genesis of this node has SHA-256 ab")),
	})
	w.Delete(w.genesis("val-genesis"))
	got := w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionPlanInProgress, metav1.ConditionFalse, v1alpha1.ReasonPlanFailed)
	})
	if text := message(got, v1alpha1.ConditionPlanInProgress); !strings.Contains(text, "Restore ConfigMap val-genesis from a backup") {
		t.Errorf("message %q, want that ConfigMap val-genesis is to be restored from a backup", text)
	}
	if !is(got, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, "") {
		t.Error("the latch opened")
	}
	err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: w.NS, Name: "val-genesis"}, &corev1.ConfigMap{})
	if client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("another genesis was stored: %v", err)
	}
}

// A validator that starts a chain alone has no peers, and no bucket has to say so.
func TestCeremony_OfASingleValidator_StartsIt(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	w.Create(validators("alone", 1))
	w.await("alone", settled)
}

func TestCeremony_AValidatorFails_IsNamedAndARetryNeedsNoNewChain(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	repair := w.Sidecars.Program(w.Key("val-2"), api.GenerateGentx, sidecarsim.Outcome{
		Error: &api.Error{Detail: api.ErrorDetail{Code: api.CodePrecondition, Terminal: true}, Err: io.ErrUnexpectedEOF},
	})
	w.Create(validators("val", 3))
	failed := w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionFalse, v1alpha1.ReasonCeremonyFailed)
	})
	text := message(failed, v1alpha1.ConditionGenesisCeremonyComplete)
	if !strings.Contains(text, "validator val-2 failed: step generate-gentx: unexpected EOF") || failed.Status.Phase != v1alpha1.DeploymentFailed {
		t.Errorf("phase %s, message %q, want %s and that val-2 could not make its gentx", failed.Status.Phase, text, v1alpha1.DeploymentFailed)
	}
	w.AwaitEvent("", events.CeremonyFailed)
	repair()
	w.edit("val", func(s *v1alpha1.SeiNodeDeployment) { s.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"} })
	w.await("val", settled)
}

func TestCeremony_TakesTooLong_NamesWhomItWaitedFor(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	release := w.Pods.Rule(podsim.Match{Namespace: w.NS, Pod: "val-1-0"}, podsim.Behaviour{Unschedulable: "no room"})
	snd := validators("val", 2)
	snd.Spec.Genesis.MaxCeremonyDuration = &metav1.Duration{Duration: 8 * time.Second}
	w.Create(snd)
	failed := w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionFalse, v1alpha1.ReasonCeremonyFailed)
	})
	text := message(failed, v1alpha1.ConditionGenesisCeremonyComplete)
	if !strings.Contains(text, "not completed within") || !strings.Contains(text, "waiting for the gentxs of val-1 (") {
		t.Errorf("message %q, want that the time is over and that the gentxs of val-1 are missing", text)
	}
	release()
	w.AwaitNode("val-1", func(n *v1alpha1.SeiNode) bool { return n.Status.NodeID != "" })
	w.edit("val", func(s *v1alpha1.SeiNodeDeployment) { s.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"} })
	w.await("val", settled)
}

func TestCeremony_BadInput_IsAConditionAndNoNodeIsMade(t *testing.T) {
	w := newOperatedWorld(t)
	snd := validators("val", 2)
	snd.Spec.Genesis.Accounts[0].Address = "sei1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq703fpu"
	w.Create(snd)
	got := w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionFalse, v1alpha1.ReasonCeremonyFailed)
	})
	text := message(got, v1alpha1.ConditionGenesisCeremonyComplete)
	if !strings.Contains(text, "spec.genesis.accounts[0].address: the checksum") || len(got.Status.Nodes) != 0 {
		t.Errorf("nodes %v, message %q, want no nodes and that the checksum of the address is wrong", got.Status.Nodes, text)
	}
}

// What only the chain binary can know comes back from the assembler.
func TestCeremony_OverrideIntoAModuleThatIsNotThere_IsACondition(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	w.Sidecars.Program("", api.AssembleGenesis, sidecarsim.Outcome{
		Error: api.InvalidField("overrides[nope.a]", "there is no module nope"),
	})
	w.Create(validators("val", 1))
	got := w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionFalse, v1alpha1.ReasonCeremonyFailed)
	})
	if text := message(got, v1alpha1.ConditionGenesisCeremonyComplete); !strings.Contains(text, "val-0: overrides[nope.a]: there is no module nope") {
		t.Errorf("message %q, want that there is no module nope", text)
	}
}

// large is a genesis that no ConfigMap holds.
func large() []byte {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, 3<<20)
	for i := range out {
		out[i] = byte('a' + random.IntN(26))
	}
	return out
}

func TestCeremony_TooLargeForAConfigMap_NamesTheSetting(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain().ballast = large()
	w.Create(validators("val", 1))
	got := w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionFalse, v1alpha1.ReasonCeremonyFailed)
	})
	if text := message(got, v1alpha1.ConditionGenesisCeremonyComplete); !strings.Contains(text, "set buckets.genesis") {
		t.Errorf("message %q, want that buckets.genesis is to be set", text)
	}
}

func TestCeremony_WithABucket_PublishesThereAndNodesFetchWhatIsTooLarge(t *testing.T) {
	w := newWorld(t)
	w.Platform.Buckets.Genesis = "s3://genesis?region=eu-central-1"
	w.StartOperator()
	c := w.chain()
	c.ballast = large()
	got := w.bringUp(validators("val", 2))
	if want := "s3://genesis/demo/genesis.json"; got.Status.GenesisS3URI != want {
		t.Errorf("published at %q, want %q", got.Status.GenesisS3URI, want)
	}
	if stored := w.genesis("val-genesis"); len(stored.BinaryData) > 0 || stored.Annotations[v1alpha1.AnnotationGenesisInBucket] == "" {
		t.Errorf("%d files in a ConfigMap with annotations %v, want none, and %s", len(stored.BinaryData), stored.Annotations, v1alpha1.AnnotationGenesisInBucket)
	}
	for _, name := range []string{"val-0", "val-1"} {
		if p := c.of(w.Key(name)); p.Genesis != "" || p.ExpectedGenesisHash != got.Status.GenesisHash {
			t.Errorf("%s was told hash %q and %d bytes of genesis, want %q and none", name, p.ExpectedGenesisHash, len(p.Genesis), got.Status.GenesisHash)
		}
		if !slices.Contains(w.Sidecars.Submissions(w.Key(name)), api.UploadGenesisArtifacts) {
			t.Errorf("%s published nothing", name)
		}
	}
}

func TestCeremony_PausedAndOperatorRestarted_GoesOnWhereItWas(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	release := w.Pods.Rule(podsim.Match{Namespace: w.NS, Pod: "val-1-0"}, podsim.Behaviour{Unschedulable: "no room"})
	w.Create(validators("val", 2))
	waiting := func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.Plan != nil && strings.Contains(message(s, v1alpha1.ConditionPlanInProgress), "val-1 (")
	}
	id := w.await("val", waiting).Status.Plan.ID
	w.edit("val", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Paused = true })
	w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.Phase == v1alpha1.DeploymentPaused })
	w.RestartOperator()
	release()
	w.AwaitNode("val-1", func(n *v1alpha1.SeiNode) bool {
		return n.Status.Plan != nil && strings.Contains(plan.Find(n.Status.Plan, domain.StepAwaitGenesis).Message, "waiting for the ceremony")
	})
	if s := w.fleet("val"); s.Status.GenesisHash != "" || s.Status.Plan.ID != id {
		t.Errorf("a paused ceremony went on: genesis %q and plan %s, want none and %s", s.Status.GenesisHash, s.Status.Plan.ID, id)
	}
	w.edit("val", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Paused = false })
	w.await("val", settled)
	for _, name := range []string{"val-0", "val-1"} {
		if got := count(w.Sidecars.Submissions(w.Key(name)), api.ExportGentx); got != 1 {
			t.Errorf("%s exported its gentx %d times, want once", name, got)
		}
	}
}
