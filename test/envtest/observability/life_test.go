package observability

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// theLog is all that the operator logs, details included.
var theLog struct {
	sync.Mutex
	strings.Builder
}

func TestMain(m *testing.M) {
	ctrl.SetLogger(funcr.NewJSON(func(line string) {
		theLog.Lock()
		defer theLog.Unlock()
		theLog.WriteString(line + "\n")
	}, funcr.Options{Verbosity: 1}))
	os.Exit(envtest.Main(m))
}

func logged() string {
	theLog.Lock()
	defer theLog.Unlock()
	return theLog.String()
}

// A fleet is brought up, fails and is retried, is rolled out, stalls, goes back and is
// deleted, beside a validator that a task restarts, a replayer that diverges, and a node that
// publishes its snapshots; the operator is restarted on the way, and in the end the fleet stops for an
// upgrade of its chain that nobody has named.
func TestMetrics_WholeLife_TouchesEveryOneAndLeavesNone(t *testing.T) {
	w := world.New(t)
	w.Platform.Buckets.ResultExport, w.Platform.Buckets.Snapshot = "file:///results", "file:///snapshots"
	s := startSampler(t)
	w.StartOperator()
	secret := createValidator(w)
	restartByTask(w)
	diverge(w, s)
	publish(w, s)
	bringUpWithTrouble(w, s)
	restart(w)
	stallAndGoBack(w, s)
	stopForUpgrade(w, s)

	checkEvents(w)
	deleteAll(w)
	s.stop()
	s.report()
	for _, expected := range [][]string{
		{metrics.NameSidecarReady, "name:rpc-0", "]0"}, {metrics.NameSidecarReady, "name:rpc-0", "]1"},
		{metrics.NameNodeReady, "name:rpc-0", "]0"}, {metrics.NameNodeReady, "name:rpc-0", "]1"},
		{metrics.NameNodePhase, "name:rpc-1", "phase:Failed", "]1"}, {metrics.NameNodePhase, "name:rpc-1", "phase:Terminating", "]1"},
		{metrics.NameFleetPhase, "phase:Upgrading", "]1"}, {metrics.NameFleetPhase, "phase:Ready", "]1"},
		{metrics.NameKeyReserved, "name:val", "]1"},
		{metrics.NameResultsDiverged, "name:replayer", "]0"}, {metrics.NameResultsDiverged, "name:replayer", "]1"},
		{metrics.NameSnapshotsPublished, "name:publisher", "]0"}, {metrics.NameSnapshotsPublished, "name:publisher", "]1"},
		{metrics.NameNodeTaskPhase, "name:restart", "phase:Complete", "]1"},
		{metrics.NameTaskDuration, "task:config-apply", "outcome:Failed"},
		{metrics.NamePlanDuration, "reason:ImageChanged", "outcome:Complete"},
		{metrics.NamePlanLastFailed, "name:rpc-1", "reason:NewNode"},
		{metrics.NameRolloutDuration, "outcome:Complete"}, {metrics.NameRolloutDuration, "outcome:Superseded"},
	} {
		if !s.saw(expected[0], expected[1:]...) {
			t.Errorf("no series of %s with %v was seen", expected[0], expected[1:])
		}
	}
	// A3: nothing of the namespace is left.
	checkLog(t, secret)
	var rest []string
	t.Cleanup(func() {
		if len(rest) > 0 {
			t.Errorf("left behind: %v", rest)
		}
	})
	w.Eventually("the last series to go", func() bool {
		rest = left(w)
		return len(rest) == 0
	})
}

// left are the series that are about the world's namespace.
func left(w *world.World) []string {
	var found []string
	for name, f := range gather(w.T) {
		for _, m := range f.GetMetric() {
			if labels := labelsOf(m); labels["namespace"] == w.NS {
				found = append(found, fmt.Sprint(name, labels))
			}
		}
	}
	return found
}

// createValidator brings a validator up and returns what must not be told.
func createValidator(w *world.World) string {
	w.T.Helper()
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	public, private := base64.StdEncoding.EncodeToString(key.Public().(ed25519.PublicKey)), base64.StdEncoding.EncodeToString(key)
	sum := sha256.Sum256(key.Public().(ed25519.PublicKey))
	signing := fmt.Sprintf(`{"address":%q,"pub_key":{"type":"tendermint/PubKeyEd25519","value":%q},"priv_key":{"type":"tendermint/PrivKeyEd25519","value":%q}}`,
		strings.ToUpper(hex.EncodeToString(sum[:20])), public, private)
	for name, data := range map[string]map[string]string{
		"signing": {v1alpha1.SecretKeySigningKey: signing},
		"nodekey": {v1alpha1.SecretKeyNodeKey: fmt.Sprintf(`{"priv_key":{"type":"tendermint/PrivKeyEd25519","value":%q}}`, private)},
	} {
		w.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: data})
	}
	w.Create(&v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "val"}, Spec: v1alpha1.SeiNodeSpec{
		ChainID: "pacific-1", Image: "seid:a",
		Validator: &v1alpha1.ValidatorSpec{
			SigningKey: &v1alpha1.SigningKeySource{Secret: v1alpha1.KeySecret{SecretName: "signing"}},
			NodeKey:    &v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "nodekey"}},
		},
	}})
	awaitNode(w, "val", inSync)
	return private
}

// diverge brings a replayer up and has a block of it differ.
func diverge(w *world.World, s *sampler) {
	w.T.Helper()
	w.Create(&v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "replayer"}, Spec: v1alpha1.SeiNodeSpec{
		ChainID: "pacific-1", Image: "seid:a",
		Peers: []v1alpha1.PeerSource{{Static: &v1alpha1.StaticPeers{Addresses: []v1alpha1.PeerAddress{
			"3be6b24cf86a5938cce7d48f44fb6598465a9924@p2p.example.com:26656",
		}}}},
		Replayer: &v1alpha1.ReplayerSpec{
			Snapshot: v1alpha1.SnapshotSource{
				S3: &v1alpha1.S3Snapshot{TargetHeight: 100}, RPCServers: []v1alpha1.HostPort{"a.example.com:26657", "b.example.com:26657"},
			},
			ResultExport: &v1alpha1.ResultExport{ShadowResult: &v1alpha1.ShadowResult{CanonicalRPC: "canonical:26657"}},
		},
	}})
	w.Eventually("a comparison", func() bool { return s.saw(metrics.NameResultsDiverged, "name:replayer", "]0") })
	if err := w.Sidecars.Diverge(w.Key("replayer"), api.Divergence{Height: 5, Field: "app_hash", Report: "divergence-5.report.json.gz"}); err != nil {
		w.T.Fatal(err)
	}
	world.Edit(w, "replayer", &v1alpha1.SeiNode{}, func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{"look": "now"} })
	w.Eventually("the divergence", func() bool { return s.saw(metrics.NameResultsDiverged, "name:replayer", "]1") })
}

// restartByTask has a task restart the validator.
func restartByTask(w *world.World) {
	w.T.Helper()
	task := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: "restart"}}
	task.Spec.Kind, task.Spec.RestartSeid, task.Spec.Target.NodeRef.Name = v1alpha1.TaskKindRestartSeid, &v1alpha1.RestartSeid{}, "val"
	w.Create(task)
	envtest.WaitFor(w.T, w.Env, w.NS, "restart", func(t *v1alpha1.SeiNodeTask) bool { return t != nil && t.Status.Phase == v1alpha1.NodeTaskComplete })
}

// publish brings a node up whose snapshots reach the bucket after a while.
func publish(w *world.World, s *sampler) {
	w.T.Helper()
	w.Create(&v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "publisher"}, Spec: v1alpha1.SeiNodeSpec{
		ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{SnapshotGeneration: &v1alpha1.SnapshotGeneration{
			Tendermint: &v1alpha1.TendermintSnapshotGeneration{KeepRecent: 2, Publish: &v1alpha1.SnapshotPublish{}},
		}},
	}})
	w.Eventually("a node that publishes", func() bool { return s.saw(metrics.NameSnapshotsPublished, "name:publisher", "]0") })
	at := time.Now()
	w.Sidecars.Amend(w.Key("publisher"), func(d *api.Node) { d.Published.Height, d.Published.Time = 2000, &at })
	world.Edit(w, "publisher", &v1alpha1.SeiNode{}, func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{"look": "now"} })
	w.Eventually("a published snapshot", func() bool { return s.saw(metrics.NameSnapshotsPublished, "name:publisher", "]1") })
}

// stopForUpgrade has the fleet see an upgrade of its chain that no entry names, and stop for it.
func stopForUpgrade(w *world.World, s *sampler) {
	w.T.Helper()
	plan := &api.Upgrade{Name: "v2", Height: 100}
	tell := func(upgrades api.Upgrades) {
		for _, name := range []string{"rpc-0", "rpc-1"} {
			w.T.Cleanup(w.Sidecars.Amend(w.Key(name), func(d *api.Node) { d.Upgrade, d.Upgrades = plan, &upgrades }))
			world.Edit(w, name, &v1alpha1.SeiNode{}, func(n *v1alpha1.SeiNode) {
				metav1.SetMetaDataAnnotation(&n.ObjectMeta, "look", fmt.Sprint(upgrades.Needed != nil))
			})
		}
	}
	tell(api.Upgrades{Known: true, EstimatedTime: new(time.Now())})
	w.Eventually("the estimated time", func() bool { return s.saw(metrics.NameUpgradeEstimated, "name:rpc-0") })
	tell(api.Upgrades{Known: true, Needed: plan})
	for _, expected := range [][]string{
		{metrics.NameUpgradeHeight, "name:rpc-0"}, {metrics.NameUpgradeHalted, "name:rpc-0", "]1"},
		{metrics.NameUpgradeImageMissing, "name:rpc-0", "]1"}, {metrics.NameUpgradeFailed, "name:rpc-0", "]0"},
		{metrics.NameFleetUpgradeNodes, "name:rpc", "state:halted"},
	} {
		w.Eventually(expected[0], func() bool { return s.saw(expected[0], expected[1:]...) })
	}
}

func awaitNode(w *world.World, name string, condition func(*v1alpha1.SeiNode) bool) {
	w.T.Helper()
	envtest.WaitFor(w.T, w.Env, w.NS, name, func(n *v1alpha1.SeiNode) bool { return n != nil && condition(n) })
}

func awaitFleet(w *world.World, condition func(*v1alpha1.SeiNodeDeployment) bool) {
	w.T.Helper()
	envtest.WaitFor(w.T, w.Env, w.NS, "rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s != nil && condition(s) })
}

func inSync(n *v1alpha1.SeiNode) bool {
	return n.Status.Plan == nil && conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
}

// runs is a settled fleet on an image.
func runs(image string) func(*v1alpha1.SeiNodeDeployment) bool {
	return func(s *v1alpha1.SeiNodeDeployment) bool {
		for _, n := range s.Status.Nodes {
			if n.CurrentImage != image {
				return false
			}
		}
		return s.Status.ObservedGeneration == s.Generation && s.Status.Phase == v1alpha1.DeploymentReady && s.Status.Rollout == nil
	}
}

func setImage(w *world.World, image string) {
	w.T.Helper()
	world.Edit(w, "rpc", &v1alpha1.SeiNodeDeployment{}, func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image = image })
}

// bringUpWithTrouble makes a fleet of two: one node takes its time until it is in sync,
// the other fails, is retried, and has to repeat a task.
func bringUpWithTrouble(w *world.World, s *sampler) {
	w.T.Helper()
	w.Sidecars.SetInSync(w.Key("rpc-0"), false)
	w.Sidecars.Program(w.Key("rpc-1"), api.ConfigValidate, sidecarsim.Outcome{Error: errors.New("busy"), Times: 1})
	repair := w.Sidecars.Program(w.Key("rpc-1"), api.ConfigApply, sidecarsim.Outcome{
		Error: api.Terminal(api.CodeInvalidParams, errors.New("no such key")),
	})
	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}, Spec: v1alpha1.SeiNodeDeploymentSpec{
		Replicas: 2,
		Template: v1alpha1.SeiNodeTemplate{Spec: v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}}},
		UpdateStrategy: &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{
			MaxUnavailable: new(intstr.FromInt32(1)), ProgressDeadlineSeconds: 1,
		}},
	}}
	w.Create(fleet)
	awaitNode(w, "rpc-1", func(n *v1alpha1.SeiNode) bool { return n.Status.Phase == v1alpha1.NodeFailed && n.Status.Plan == nil })
	w.Eventually("the failed plan to be told", func() bool { return s.saw(metrics.NamePlanLastFailed) })
	repair()
	world.Edit(w, "rpc", fleet, func(s *v1alpha1.SeiNodeDeployment) {
		s.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"}
	})
	awaitNode(w, "rpc-0", func(n *v1alpha1.SeiNode) bool { return n.Status.Phase == v1alpha1.NodeRunning && n.Status.Plan == nil })
	w.Eventually("the first sync to be told", func() bool { return s.saw(metrics.NameFirstSyncAge, "name:rpc-0") })
	w.Sidecars.SetInSync(w.Key("rpc-0"), true)
	awaitFleet(w, runs("seid:a"))
}

// restart shows that what an operator finds when it starts is no transition.
func restart(w *world.World) {
	w.T.Helper()
	before := durations(w)
	looks := func() float64 { return w.Patches(metrics.NameDeploymentStatusPatches, "rpc", statuspatch.Noop) }
	w.RestartOperator()
	seen := looks()
	world.Edit(w, "rpc", &v1alpha1.SeiNodeDeployment{}, func(s *v1alpha1.SeiNodeDeployment) { s.Annotations["look"] = "again" })
	w.Eventually("the new operator to look", func() bool { return looks() > seen })
	if after := durations(w); before != after || before == "" {
		w.T.Errorf("a restart changed the recorded durations from\n%s\nto\n%s", before, after)
	}
}

// durations are the counts of everything that is timed.
func durations(w *world.World) string {
	w.T.Helper()
	var b strings.Builder
	for _, d := range metrics.Declarations() {
		for _, m := range gather(w.T)[d.Name].GetMetric() {
			if h := m.GetHistogram(); h != nil {
				fmt.Fprintln(&b, d.Name, labelsOf(m), h.GetSampleCount())
			}
		}
	}
	return b.String()
}

// stallAndGoBack rolls out an image that is good, one that cannot be pulled, and the good
// one again.
func stallAndGoBack(w *world.World, s *sampler) {
	w.T.Helper()
	setImage(w, "seid:b")
	awaitFleet(w, runs("seid:b"))
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:bad"}, podsim.Behaviour{PullError: "no such image"})
	setImage(w, "seid:bad")
	awaitFleet(w, func(s *v1alpha1.SeiNodeDeployment) bool {
		return conditions.Is(s.Status.Conditions, v1alpha1.ConditionRolloutStalled, metav1.ConditionTrue, "")
	})
	// The deadline of a second may be over before the pod of the new image is there.
	awaitNode(w, "rpc-0", func(n *v1alpha1.SeiNode) bool {
		return conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonImagePullFailed)
	})
	w.Eventually("the stall to be told", func() bool { return s.saw(metrics.NameFleetStalled, "]1") })
	w.Eventually("the failure to be told", func() bool { return s.saw(metrics.NameFleetRolloutFailed, "]1") })
	setImage(w, "seid:b")
	awaitFleet(w, runs("seid:b"))
}

func deleteAll(w *world.World) {
	w.T.Helper()
	fleet, node := &v1alpha1.SeiNodeDeployment{}, &v1alpha1.SeiNode{}
	w.Get("rpc", fleet)
	w.Get("val", node)
	w.Delete(fleet)
	w.Delete(node)
	w.Delete(&v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Namespace: w.NS, Name: "restart"}})
	for _, name := range []string{"replayer", "publisher"} {
		w.Delete(&v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: w.NS, Name: name}})
	}
	envtest.WaitGone[v1alpha1.SeiNodeDeployment](w.T, w.Env, w.NS, "rpc")
	envtest.WaitGone[v1alpha1.SeiNode](w.T, w.Env, w.NS, "val")
	envtest.WaitGone[v1alpha1.SeiNode](w.T, w.Env, w.NS, "replayer")
	envtest.WaitGone[v1alpha1.SeiNode](w.T, w.Env, w.NS, "publisher")
}

// checkLog shows that the log has what people look for, and nothing that is nobody's business.
func checkLog(t *testing.T, secret string) {
	t.Helper()
	log := logged()
	for _, want := range []string{`"msg":"plan started"`, `"event":"RolloutStalled"`, `"event":"PlanFailed"`, `"msg":"task called"`, `"msg":"phase changed"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	if strings.Contains(log, secret) || strings.Contains(log, "priv_key") {
		t.Error("a private key is in the log")
	}
}
