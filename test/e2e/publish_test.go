package e2e

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/test/fork"
)

// publishedKeep is how many snapshots stay in the bucket.
const publishedKeep = 2

// A full node publishes its snapshots to a bucket. A replayer starts from the newest of them and compares its blocks with
// those of another node, until that one forks.
func TestReplayer_FromAPublishedSnapshot_ReportsAPlantedDivergence(t *testing.T) {
	s := join(t, "publish")
	s.create(s.publisher("publisher"))
	s.awaitInSync("publisher")
	first := s.awaitPublished("publisher")
	s.awaitRetention(first)
	s.awaitCondition("publisher", v1alpha1.ConditionSnapshotsPublished, metav1.ConditionTrue, v1alpha1.ReasonPublished)

	canonical, forkAt := s.forkable("publisher")
	newest := s.seiNode("publisher").Status.LastPublished.Height
	began := time.Now()
	s.create(s.replayer("replayer", canonical))
	s.awaitInSync("replayer")
	theReport.figuref(t, "a node restored from a published snapshot", "%.1f s", time.Since(began).Seconds())
	if block := s.firstBlock("replayer"); block < newest {
		t.Errorf("the first block of the replayer is %d, want that of the snapshot of %d or of a later one", block, newest)
	}
	s.awaitCondition("replayer", v1alpha1.ConditionResultsMatch, metav1.ConditionTrue, v1alpha1.ReasonComparing)

	height := s.height("replayer") + 5
	forkAt.Store(height)
	message := s.awaitCondition("replayer", v1alpha1.ConditionResultsMatch, metav1.ConditionFalse, v1alpha1.ReasonDiverged).Message
	t.Log(message)
	report := fmt.Sprintf("%s/results/%s/replayer/divergence-%d.report.json.gz", s.chain.id, s.namespace, height)
	for _, want := range []string{fmt.Sprintf("block %d", height), "layer 0", "app_hash", report} {
		if !strings.Contains(message, want) {
			t.Errorf("ResultsMatch does not say %q: %s", want, message)
		}
	}
	if keys, err := s.store.keys(bucketResults, report); err != nil || len(keys) != 1 {
		t.Errorf("reports in the bucket: %v, %v", keys, err)
	}
	s.awaitBlocks("replayer", 2) // only the comparison has ended
}

// publisher is a full node that makes and publishes snapshots all the time.
func (s *scenario) publisher(name string) *v1alpha1.SeiNode {
	node := s.fullNode(name)
	node.Spec.Overrides = map[string]string{"storage.snapshot_interval": "5"}
	node.Spec.FullNode.SnapshotGeneration = &v1alpha1.SnapshotGeneration{Tendermint: &v1alpha1.TendermintSnapshotGeneration{
		KeepRecent: 10, Publish: &v1alpha1.SnapshotPublish{Keep: publishedKeep},
	}}
	return node
}

// replayer starts from the newest snapshot in the bucket.
func (s *scenario) replayer(name, canonical string) *v1alpha1.SeiNode {
	node := s.node(name)
	own := &v1alpha1.LabelPeers{Selector: map[string]string{"scenario": s.namespace}}
	node.Spec.Peers = []v1alpha1.PeerSource{{Label: s.peers.DeepCopy()}, {Label: own}}
	node.Spec.Replayer = &v1alpha1.ReplayerSpec{
		Snapshot:     v1alpha1.SnapshotSource{S3: &v1alpha1.S3Snapshot{}},
		ResultExport: &v1alpha1.ResultExport{ShadowResult: &v1alpha1.ShadowResult{CanonicalRPC: canonical}},
	}
	return node
}

// awaitPublished waits until the node's status names a snapshot that is in the bucket, and returns its height.
func (s *scenario) awaitPublished(name string) int64 {
	s.t.Helper()
	node := &v1alpha1.SeiNode{}
	await(s.t, inSyncTimeout, name+" to publish a snapshot", func(context.Context) (bool, string, error) {
		err := s.get(name, node)
		return node.Status.LastPublished != nil, describe(node), err
	})
	return node.Status.LastPublished.Height
}

// awaitRetention waits until older snapshots have made room for newer ones.
func (s *scenario) awaitRetention(first int64) {
	s.t.Helper()
	await(s.t, inSyncTimeout, fmt.Sprintf("snapshot %d to be deleted from the bucket", first), func(context.Context) (bool, string, error) {
		keys, err := s.store.keys(bucketSnapshots, s.chain.id+"/state-sync/")
		if err != nil {
			return false, "", err
		}
		var complete []string
		gone := true
		for _, key := range keys {
			archive, _ := strings.CutSuffix(key, objectstore.ManifestSuffix)
			if archive != key && slices.Contains(keys, archive) {
				complete = append(complete, archive)
			}
			gone = gone && !strings.Contains(key, fmt.Sprintf("/%d-", first))
		}
		return gone && len(complete) == publishedKeep, fmt.Sprint(keys), nil
	})
}

// forkable is the RPC of a node that can be told to fork at a height.
func (s *scenario) forkable(name string) (address string, at *atomic.Int64) {
	s.t.Helper()
	at = &atomic.Int64{}
	at.Store(1 << 62)
	rpc := &url.URL{Scheme: "http", Host: fmt.Sprintf("%s:%d", s.pod(name).Status.PodIP, seid.PortRPC)}
	address, err := s.serve(s.t.Context(), fork.Handler(rpc, at.Load))
	if err != nil {
		s.t.Fatal(err)
	}
	return address, at
}
