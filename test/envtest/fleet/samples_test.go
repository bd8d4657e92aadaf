package fleet

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

// samplePromise is what a sample needs of its surroundings and what it comes to. Make may change
// what a test cluster does not have: machines, storage classes, the cloud's API.
type samplePromise struct {
	make func(w fleets, obj client.Object)
	// help does what the world outside does while the object comes up.
	help func(w fleets)
	kept func(w fleets)
}

// promised are the kinds of which every sample has a promise.
var promised = map[string]func() client.Object{
	v1alpha1.KindSeiNode:           func() client.Object { return &v1alpha1.SeiNode{} },
	v1alpha1.KindSeiNodeDeployment: func() client.Object { return &v1alpha1.SeiNodeDeployment{} },
	v1alpha1.KindSeiNodeTask:       func() client.Object { return &v1alpha1.SeiNodeTask{} },
}

var samplePromises = map[string]samplePromise{
	"seinode-archive.yaml": {
		make: func(w fleets, obj client.Object) {
			obj.(*v1alpha1.SeiNode).Spec.Scheduling.NodeSelector = nil
			w.filledVolume("archive-data", seid.ModeArchive)
		},
		kept: nodeRuns("archive"),
	},
	"seinode-full-bootstrap.yaml": {
		make: func(_ fleets, obj client.Object) {
			obj.(*v1alpha1.SeiNode).Spec.Peers = staticPeers // there is no cloud to ask for tags
		},
		help: func(w fleets) { w.endBootstrap("rpc-bootstrap") },
		kept: nodeRuns("rpc-bootstrap"),
	},
	"seinode-full.yaml": {kept: nodeRuns("rpc")},
	"seinode-replayer.yaml": {
		// The peers that the sample selects, and its witnesses.
		make: func(w fleets, _ client.Object) { w.bringUp(rpc("rpc", 2)) },
		kept: func(w fleets) {
			nodeRuns("replayer")(w)
			w.AwaitNode("replayer", func(n *v1alpha1.SeiNode) bool {
				return len(n.Status.ResolvedPeers) == 2 &&
					conditions.Is(n.Status.Conditions, v1alpha1.ConditionResultsMatch, metav1.ConditionTrue, v1alpha1.ReasonComparing)
			})
		},
	},
	"seinode-seed.yaml": {
		make: func(w fleets, _ client.Object) { w.keys("", "seed-node-key", 0) },
		kept: nodeRuns("seed"),
	},
	"seinode-validator.yaml": {
		make: func(w fleets, obj client.Object) {
			obj.(*v1alpha1.SeiNode).Spec.DataVolume.StorageClassName = new(podsim.ClassImmediate)
			w.keys("val-signing-key", "val-node-key", 0)
			w.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "val-keyring"}, Data: map[string][]byte{
				"operator.info": []byte("x"), "abcdef.address": []byte("y"), "keyhash": []byte("z"),
			}})
			w.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "val-keyring-passphrase"}, Data: map[string][]byte{"passphrase": []byte("secret")}})
		},
		kept: nodeRuns("validator"),
	},
	"seinodedeployment-genesis.yaml": {
		make: func(w fleets, _ client.Object) { w.chain() },
		kept: func(w fleets) {
			fleetRuns("testnet")(w)
			w.await("testnet", func(s *v1alpha1.SeiNodeDeployment) bool {
				return is(s, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, v1alpha1.ReasonCeremonyComplete)
			})
		},
	},
	"seinodedeployment-rpc.yaml": {
		make: func(w fleets, _ client.Object) {
			w.installGatewayAPI()
			w.T.Cleanup(w.startGateway("sei.example"))
			w.T.Cleanup(w.startLoadBalancers())
		},
		kept: func(w fleets) {
			fleetRuns("rpc")(w)
			w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
				c := conditions.Get(s.Status.Conditions, v1alpha1.ConditionNetworkingReady)
				return c != nil && c.Status == metav1.ConditionTrue
			})
			// A fleet that knows only itself finds nobody.
			for _, peer := range w.Node("rpc-0").Status.ResolvedPeers {
				if strings.Contains(peer, "p2p.example.com") {
					return
				}
			}
			w.T.Errorf("the peers of rpc-0 are all of its own fleet: %v", w.Node("rpc-0").Status.ResolvedPeers)
		},
	},
	"seinodedeployment-validator.yaml": {
		make: func(w fleets, _ client.Object) {
			for i := range 3 {
				w.keys(fmt.Sprintf("val-%d-signing-key", i), fmt.Sprintf("val-%d-node-key", i), i)
			}
		},
		kept: fleetRuns("validator-fleet"),
	},
}

var staticPeers = []v1alpha1.PeerSource{{Static: &v1alpha1.StaticPeers{Addresses: []v1alpha1.PeerAddress{
	"3be6b24cf86a5938cce7d48f44fb6598465a9924@p2p.example.com:26656",
}}}}

// Each sample is applied as it is and comes to what it promises: its nodes run and are Ready, and its
// tasks have done what they say.
func TestSamples_KeepTheirPromises(t *testing.T) {
	files, err := filepath.Glob("../../../config/samples/sei*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	promises := maps.Clone(samplePromises)
	maps.Copy(promises, taskPromises)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var head metav1.TypeMeta
		if err := yaml.Unmarshal(text, &head); err != nil {
			t.Fatal(err)
		}
		kind, promise := promised[head.Kind], promises[filepath.Base(file)]
		if kind == nil {
			t.Fatalf("%s is of a kind that no test knows: %s", file, head.Kind)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			if promise.kept == nil {
				t.Fatal("no test knows what this sample promises: add it to samplePromises or taskPromises")
			}
			obj := kind()
			if err := yaml.UnmarshalStrict(text, obj); err != nil {
				t.Fatal(err)
			}
			w := newSampleWorld(t)
			if promise.make != nil {
				promise.make(w, obj)
			}
			w.Create(obj)
			if promise.help != nil {
				promise.help(w)
			}
			promise.kept(w)
		})
	}
	for file := range promises {
		if _, err := os.Stat(filepath.Join("../../../config/samples", file)); err != nil {
			t.Errorf("a promise without a sample: %v", err)
		}
	}
}

// newSampleWorld makes a world whose operator has all that the samples name.
func newSampleWorld(t *testing.T) fleets {
	t.Helper()
	w := newWorldBeforeOthers(t)
	w.Platform.Buckets.Snapshot, w.Platform.Buckets.ResultExport = "file:///snapshots", "file:///results"
	w.Platform.Gateway.Name, w.Platform.Gateway.Namespace = "public", "gateways"
	w.Platform.Gateway.Domain, w.Platform.Gateway.P2PDomain = "sei.example", "p2p.example"
	w.StartOperator()
	return w
}

// nodeRuns waits until a node runs its spec and has nothing left to do.
func nodeRuns(name string) func(fleets) {
	return func(w fleets) {
		w.T.Helper()
		w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool {
			return n.Status.Phase == v1alpha1.NodeRunning && n.Status.Plan == nil && n.Status.CurrentImage == n.Spec.Image &&
				conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
		})
	}
}

func fleetRuns(name string) func(fleets) {
	return func(w fleets) {
		w.T.Helper()
		w.await(name, settled)
	}
}

// keys makes the Secrets of a node's own keys; an empty name leaves one out.
func (w fleets) keys(signing, node string, ordinal int) {
	w.T.Helper()
	secrets, _ := keySecrets(ordinal)
	for i, name := range []string{signing, node} {
		if name == "" {
			continue
		}
		secrets[i].Name = name
		w.Create(secrets[i])
	}
}

// filledVolume makes a claim with the home of a node that was in sync.
func (w fleets) filledVolume(name string, mode seid.Mode) {
	w.T.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: new(podsim.ClassImmediate),
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	w.Create(claim)
	w.Sidecars.Furnish(claim.UID, mode, nil)
}

// endBootstrap has the chain of a bootstrap Job reach its height.
func (w fleets) endBootstrap(name string) {
	w.T.Helper()
	w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool {
		task := plan.Find(n.Status.Plan, domain.StepAwaitBootstrap)
		return task != nil && task.Status == v1alpha1.TaskRunning
	})
	pods := &corev1.PodList{}
	err := w.Client.List(w.T.Context(), pods, client.InNamespace(w.NS), client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentBootstrap})
	if err != nil || len(pods.Items) != 1 {
		w.T.Fatalf("%d bootstrap pods, %v", len(pods.Items), err)
	}
	if err := w.Pods.Kill(w.NS, pods.Items[0].Name, "seid", 0); err != nil {
		w.T.Fatal(err)
	}
	if count(w.Sidecars.Submissions(w.Key(name)), api.SnapshotRestore) != 1 {
		w.T.Error("the bootstrap did not begin with the snapshot")
	}
}
