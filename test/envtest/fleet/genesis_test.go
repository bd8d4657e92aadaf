package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// A ConfigMap that is restored leads to no second upload: what is published stays. (G1)
func TestG1_GenesisConfigMapDeleted_NothingIsPublishedAgain(t *testing.T) {
	w := newWorld(t)
	w.Platform.Buckets.Genesis = "s3://genesis?region=eu-central-1"
	w.StartOperator()
	w.chain()
	was := w.bringUp(validators("val", 2))
	published := len(w.uploads("val-0")) + len(w.uploads("val-1"))
	if published != 3 {
		t.Fatalf("the ceremony made %d uploads", published)
	}
	old := w.genesis("val-genesis")
	w.Delete(old)
	envtest.WaitReplaced(t, w.Env, old, func(*corev1.ConfigMap) bool { return true })
	got := w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool { return settled(s) && s.Status.Plan == nil })
	if now := len(w.uploads("val-0")) + len(w.uploads("val-1")); now != published || got.Status.GenesisS3URI != was.Status.GenesisS3URI {
		t.Errorf("%d uploads, then %d; published at %q", published, now, got.Status.GenesisS3URI)
	}
}

// uploads are the tasks of a node that write to the bucket.
func (w fleets) uploads(node string) []api.TaskType {
	return slices.DeleteFunc(w.Sidecars.Submissions(w.Key(node)), func(task api.TaskType) bool {
		return task != api.UploadGenesisArtifacts && task != api.AssembleAndUploadGenesis
	})
}

// The sidecar is told which genesis to publish, and one that is in the way ends the ceremony. (G1)
func TestG1_AnotherGenesisIsPublished_TheCeremonyFailsAndNothingIsStored(t *testing.T) {
	w := newWorld(t)
	w.Platform.Buckets.Genesis = "s3://genesis?region=eu-central-1"
	w.StartOperator()
	w.chain()
	expected := make(chan string, 1)
	w.Sidecars.Program("", api.AssembleAndUploadGenesis, sidecarsim.Outcome{Do: func(_ context.Context, call sidecarsim.Call) (any, error) {
		p, err := decode[wire.AssembleAndUploadGenesis](call)
		select {
		case expected <- p.ExpectedGenesisHash:
		default:
		}
		if err != nil {
			return nil, err
		}
		return nil, api.Terminal(api.CodePrecondition, errOtherGenesis)
	}})
	w.Create(validators("val", 1))
	got := w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionFalse, v1alpha1.ReasonCeremonyFailed)
	})
	hash := <-expected
	if text := message(got, v1alpha1.ConditionGenesisCeremonyComplete); !strings.Contains(text, errOtherGenesis.Error()) || len(hash) != 64 {
		t.Errorf("message %q, expected hash %q", text, hash)
	}
	err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: w.NS, Name: "val-genesis"}, &corev1.ConfigMap{})
	if client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("a genesis was stored: %v", err)
	}
}

// A validator that comes back with new keys is no validator of the chain any more, and the fleet
// does not pretend that it is. (G2)
func TestG2_ValidatorDeletedWithItsVolume_IsNamedAndNotReady(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	snd := validators("val", 4)
	snd.Spec.Template.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeDelete}
	w.bringUp(snd)
	old := w.Node("val-2")
	if old.Status.ConsensusAddress == "" || !strings.Contains(w.genesis("val-genesis").Annotations[v1alpha1.AnnotationGenesisValidators], old.Status.ConsensusAddress) {
		t.Fatalf("validator %q is not noted in %v", old.Status.ConsensusAddress, w.genesis("val-genesis").Annotations)
	}
	w.Delete(old)
	renewed := envtest.WaitReplaced(t, w.Env, old, func(n *v1alpha1.SeiNode) bool { return up(n) && n.Status.ConsensusAddress != "" })
	got := w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonNotInGenesis) && s.Status.Phase == v1alpha1.DeploymentDegraded
	})
	text := message(got, v1alpha1.ConditionNodesReady)
	if !strings.Contains(text, "val-2: its consensus key "+renewed.Status.ConsensusAddress+" is not in the genesis of demo") {
		t.Errorf("message %q", text)
	}
	if got.Status.ReadyReplicas != 3 || got.Status.Phase != v1alpha1.DeploymentDegraded || got.Status.Nodes[2].Ready {
		t.Errorf("phase %s with %d ready: %+v", got.Status.Phase, got.Status.ReadyReplicas, got.Status.Nodes)
	}
	w.AwaitEvent("", events.NotInGenesis)
}

// The first validator is gone and would assemble something else: the copy comes from another
// node. (G3)
func TestG3_GenesisConfigMapDeleted_IsRestoredFromAnyNode(t *testing.T) {
	w := newOperatedWorld(t)
	c := w.chain()
	hash := w.bringUp(validators("val", 3)).Status.GenesisHash
	c.mu.Lock()
	c.ballast = []byte("\n") // another assembly comes out differently
	c.mu.Unlock()
	w.Sidecars.Program(w.Key("val-0"), api.ExportGentx, sidecarsim.Outcome{Error: api.Terminal(api.CodePrecondition, errOtherGenesis)})
	repair := w.Sidecars.Break(w.Key("val-0"), sidecarsim.Fault{Status: 503})
	defer repair()
	w.Sidecars.Program(w.Key("val-1"), api.ExportGenesis, sidecarsim.Outcome{Error: api.Terminal(api.CodePrecondition, errOtherGenesis)})
	old := w.genesis("val-genesis")
	w.Delete(old)
	again := envtest.WaitReplaced(t, w.Env, old, func(*corev1.ConfigMap) bool { return true })
	if again.Annotations[v1alpha1.AnnotationGenesisHash] != hash || len(contents(t, again).Gentxs) != 3 {
		t.Errorf("another genesis took its place: %v", again.Annotations)
	}
}

// Whatever takes the place of the ConfigMap is compared, named and left alone. (G4)
func TestG4_AnotherGenesisUnderTheRightName_IsNamedAndLeftAlone(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	was := w.bringUp(validators("val", 1))
	theirs := w.genesis("val-genesis")
	w.Stop()
	w.Delete(theirs)
	other := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "val-genesis", Labels: theirs.Labels, Annotations: map[string]string{v1alpha1.AnnotationGenesisHash: "ab"}},
		BinaryData: map[string][]byte{v1alpha1.GenesisDataKey: []byte("other")},
	}
	w.Create(other)
	w.StartOperator()
	got := w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, v1alpha1.ReasonGenesisConflict)
	})
	if text := message(got, v1alpha1.ConditionGenesisCeremonyComplete); !strings.Contains(text, "the chain started with "+was.Status.GenesisHash) {
		t.Errorf("message %q", text)
	}
	w.AwaitEvent("", events.GenesisConflict)
	if now := w.genesis("val-genesis"); now.ResourceVersion != other.ResourceVersion || got.Status.GenesisHash != was.Status.GenesisHash {
		t.Errorf("it was touched: %+v", now)
	}
	w.Delete(other)
	restored := envtest.WaitReplaced(t, w.Env, other, func(*corev1.ConfigMap) bool { return true })
	if restored.Annotations[v1alpha1.AnnotationGenesisHash] != was.Status.GenesisHash {
		t.Errorf("restored as %v", restored.Annotations)
	}
	w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, v1alpha1.ReasonCeremonyComplete)
	})
}

// A ConfigMap that bears nobody's label is somebody's notes and not a genesis. (G4)
func TestG4_ForeignConfigMapUnderTheName_IsNotOverwritten(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "val-genesis"}, Data: map[string]string{"notes": "mine"}}
	w.Create(theirs)
	w.Create(validators("val", 1))
	got := w.await("val", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionFalse, v1alpha1.ReasonCeremonyFailed)
	})
	if text := message(got, v1alpha1.ConditionGenesisCeremonyComplete); !strings.Contains(text, "ConfigMap val-genesis already exists and belongs to no fleet") {
		t.Errorf("message %q", text)
	}
	if now := w.genesis("val-genesis"); now.ResourceVersion != theirs.ResourceVersion {
		t.Errorf("it was touched: %+v", now)
	}
}

// Two fleets ask for one chain: one starts it, the other says why it does not. (G4)
func TestG4_TwoFleetsOfOneChain_OneRuns(t *testing.T) {
	w := newWorld(t)
	w.chain()
	for _, name := range []string{"b", "a"} {
		w.Create(validators(name, 1))
	}
	w.StartOperator()
	first, second := w.fleet("a"), w.fleet("b")
	if second.CreationTimestamp.Before(&first.CreationTimestamp) {
		first, second = second, first
	}
	w.await(first.Name, settled)
	blocked := w.await(second.Name, func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionFalse, v1alpha1.ReasonCeremonyFailed)
	})
	if len(blocked.Status.Nodes) != 0 || blocked.Status.GenesisHash != "" {
		t.Errorf("the second fleet has %+v", blocked.Status)
	}
	list := &corev1.ConfigMapList{}
	if err := w.Client.List(t.Context(), list, client.InNamespace(w.NS), client.MatchingLabels{v1alpha1.LabelGenesis: "demo"}); err != nil || len(list.Items) != 1 {
		t.Errorf("%d geneses, %v", len(list.Items), err)
	}
	// When the first one goes with all it has, the second may.
	w.Delete(w.fleet(first.Name))
	w.await(second.Name, settled)
}

// A genesis is what a fleet begins with. (G5)
func TestG5_GenesisAddedToARunningFleet_IsRefused(t *testing.T) {
	w := newWorld(t)
	snd := validators("val", 1)
	genesis := snd.Spec.Genesis
	snd.Spec.Genesis = nil
	w.Create(snd)
	before := snd.DeepCopy()
	snd.Spec.Genesis = genesis
	err := w.Client.Patch(t.Context(), snd, client.MergeFrom(before))
	if err == nil || !strings.Contains(err.Error(), "genesis cannot be added later") {
		t.Errorf("the API server answers %v", err)
	}
}

// Validators and full nodes wait for the ceremony of their chain as long as that may take. (G5)
func TestG5_LongCeremony_NodesHaveNoDeadlineOfTheirOwn(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	stop := w.Sidecars.Program(w.Key("val-0"), api.GenerateGentx, sidecarsim.Outcome{Delay: time.Hour})
	snd := validators("val", 2)
	snd.Spec.Genesis.MaxCeremonyDuration = &metav1.Duration{Duration: 48 * time.Hour}
	w.Create(snd)
	n := w.AwaitNode("val-1", func(n *v1alpha1.SeiNode) bool {
		task := plan.Find(n.Status.Plan, domain.StepAwaitGenesis)
		return task != nil && task.StartedAt != nil
	})
	if task := plan.Find(n.Status.Plan, domain.StepAwaitGenesis); task.Deadline != nil {
		t.Errorf("it gives up at %v", task.Deadline)
	}
	// A full node of the chain waits as long, and says for what.
	w.Create(&v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "full"}, Spec: v1alpha1.SeiNodeSpec{
		ChainID: "demo", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{},
	}})
	full := w.AwaitNode("full", func(n *v1alpha1.SeiNode) bool {
		c := conditions.Get(n.Status.Conditions, v1alpha1.ConditionPlanInProgress)
		return c != nil && c.Reason == v1alpha1.ReasonPlanWaiting && strings.Contains(c.Message, "the ceremony of SeiNodeDeployment val is not complete")
	})
	if task := plan.Find(full.Status.Plan, domain.StepConfigureGenesis); task.Deadline != nil {
		t.Errorf("the full node gives up at %v", task.Deadline)
	}
	got := w.fleet("val")
	for _, task := range got.Status.Plan.Tasks {
		if left := time.Until(task.Deadline.Time); left < 47*time.Hour {
			t.Errorf("%s ends in %v", task.Type, left)
		}
	}
	stop()
}

var errOtherGenesis = errors.New("s3://genesis/demo/genesis.json holds another genesis of this chain")

func decode[P any](call sidecarsim.Call) (P, error) {
	var p P
	err := json.Unmarshal(call.Params, &p)
	return p, err
}
