package look

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestMetrics_AreTheDocumentInNumbers(t *testing.T) {
	s := newSeid(t)
	s.plan, s.lag = "0a070a02763718e807", 7
	l := s.look()
	l.Node(t.Context())
	s.clock.Step(500 * time.Millisecond) // the block ages between the look and the scrape
	want := `
# HELP sei_node_block_age_seconds Age of the node's latest block.
# TYPE sei_node_block_age_seconds gauge
sei_node_block_age_seconds 0.5
# HELP sei_node_height Height of the node's latest block.
# TYPE sei_node_height gauge
sei_node_height 10
# HELP sei_node_lag_blocks Distance to the highest peer in blocks.
# TYPE sei_node_lag_blocks gauge
sei_node_lag_blocks 7
# HELP sei_node_peers Connected peers.
# TYPE sei_node_peers gauge
sei_node_peers 2
# HELP sei_node_seid_starts_total Starts of seid since the volume was created.
# TYPE sei_node_seid_starts_total counter
sei_node_seid_starts_total 1
# HELP sei_node_upgrade_height Height of the upgrade that is planned, or that the node has stopped for.
# TYPE sei_node_upgrade_height gauge
sei_node_upgrade_height{name="v7"} 1000
`
	if err := testutil.CollectAndCompare(l, strings.NewReader(want),
		MetricBlockAge, MetricHeight, MetricLag, MetricPeers, MetricStarts, MetricUpgradeHeight, MetricSnapshotHeight); err != nil {
		t.Error(err)
	}
	if got := testutil.CollectAndCount(l, MetricSyncState); got != len(States()) {
		t.Errorf("%d series of states, want %d", got, len(States()))
	}
	if problems, err := testutil.CollectAndLint(l); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v, want no error and none", problems, err)
	}
}

func TestMetrics_OfANodeThatPublishes_SayWhatIsInTheBucket(t *testing.T) {
	at := time.Unix(1700000000, 0)
	for name, tc := range map[string]struct {
		published *api.Published
		want      int
	}{
		"an older sidecar": {nil, 0},
		"nothing yet":      {&api.Published{Keep: 5}, 0},
		"published":        {&api.Published{Keep: 5, Height: 300, Time: &at}, 1},
		"turned off":       {&api.Published{Height: 300, Time: &at}, 0},
	} {
		l := newSeid(t).look()
		l.Published = func() *api.Published { return tc.published }
		for _, metric := range []string{MetricPublishedHeight, MetricPublishedTime} {
			if got := testutil.CollectAndCount(l, metric); got != tc.want {
				t.Errorf("%s: %d series of %s, want %d", name, got, metric, tc.want)
			}
		}
	}
}

func TestMetrics_OfANodeThatDoesNotAnswer_HaveNoHeight(t *testing.T) {
	s := newSeid(t)
	s.state = api.Seid{State: api.SeidWaiting}
	l := s.look()
	for name, want := range map[string]int{MetricHeight: 0, MetricPeers: 0, MetricBlockAge: 0, MetricDiskFree: 1, MetricSyncState: len(States())} {
		if got := testutil.CollectAndCount(l, name); got != want {
			t.Errorf("%d series of %s, want %d", got, name, want)
		}
	}
}

func TestMetrics_AreAllDocumented(t *testing.T) {
	metrics := documentation(t, "docs/reference/sidecar-metrics.md")
	for _, name := range MetricNames() {
		if !strings.Contains(metrics, "`"+name+"`") {
			t.Errorf("docs/reference/sidecar-metrics.md does not explain %s", name)
		}
	}
	document := documentation(t, "docs/reference/node-document.md")
	for _, s := range States() {
		if !strings.Contains(document, "`"+string(s)+"`") {
			t.Errorf("docs/reference/node-document.md does not explain the state %s", s)
		}
	}
	described := make(chan *prometheus.Desc, 100)
	New(Config{}).Describe(described)
	if len(described) != len(MetricNames()) {
		t.Errorf("%d metrics are described, %d named", len(described), len(MetricNames()))
	}
}

// documentation is a page of the repository.
func documentation(t *testing.T, page string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
