package live_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/cli/live"
	"github.com/sei-operator/sei-operator/internal/sidecar/look"
)

// answers is a Proxy: what pods answer, by "POD PORT PATH" and, for heights, "?HEIGHT".
type answers map[string]string

func (a answers) Get(_ context.Context, pod types.NamespacedName, scheme string, port int, path string, query map[string]string) ([]byte, error) {
	key := fmt.Sprintf("%s %d %s", pod.Name, port, path)
	if h := query["height"]; h != "" {
		key += "?" + h
	}
	body, ok := a[key]
	if !ok || scheme != "http" {
		return nil, errors.New("connection refused")
	}
	return []byte(body), nil
}

func node(name string) *v1alpha1.SeiNode {
	n := &v1alpha1.SeiNode{Spec: v1alpha1.SeiNodeSpec{ChainID: "pacific-1", FullNode: &v1alpha1.FullNodeSpec{}}}
	n.Name, n.Namespace = name, "sei"
	return n
}

func info(height int64, hash byte) string {
	return fmt.Sprintf(`{"response":{"last_block_height":"%d","last_block_app_hash":%q}}`, height, base64.StdEncoding.EncodeToString([]byte{hash}))
}

func header(height int64, hash byte) string {
	return fmt.Sprintf(`{"signed_header":{"header":{"height":"%d","app_hash":%q},"commit":{"block_id":{"hash":"AB"}}}}`,
		height, strings.ToUpper(hex.EncodeToString([]byte{hash})))
}

func TestAsk_TheSidecarIsSilent_TheRPCStandsIn(t *testing.T) {
	facts := live.Ask(t.Context(), answers{
		"a-0 26657 /abci_info": info(10, 1),
		"a-0 26657 /status":    `{"node_info":{"id":"x"},"sync_info":{"latest_block_height":"10","max_peer_block_height":"14"}}`,
		"a-0 26657 /net_info":  `{"peer_connections":[{"node_id":"y","state":"dialed,connected"}]}`,
	}, node("a"))
	if facts.Height == nil || *facts.Height != 10 || *facts.Lag != 4 || *facts.Peers != 1 || facts.Disk != nil {
		t.Errorf("got %+v, want Height not nil, Height 10, Lag 4, Peers 1 and Disk nil", facts)
	}
	if len(facts.Missing) != 1 || facts.Missing[0].What != "sync state, disk" || facts.Missing[0].Why != "connection refused" {
		t.Errorf("missing %+v", facts.Missing)
	}
}

// refusing is a Proxy that always gives the same error.
type refusing struct{ err error }

func (r refusing) Get(context.Context, types.NamespacedName, string, int, string, map[string]string) ([]byte, error) {
	return nil, fmt.Errorf("asking pod a-0: %w", r.err)
}

func TestAsk_TheProxyRefuses_SaysWhy(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	tests := map[string]error{
		"your account may not get pods/proxy":                             apierrors.NewForbidden(pods, "a-0", errors.New("no")),
		`pods "a-0" not found`:                                            apierrors.NewNotFound(pods, "a-0"),
		"no answer in time; a network policy may keep the API server out": context.DeadlineExceeded,
		"error trying to reach service: dial tcp 10.0.0.1:7777: connect: no route to host": apierrors.NewGenericServerResponse(
			503, "get", pods, "a-0", "error trying to reach service: dial tcp 10.0.0.1:7777: connect: no route to host\n", 0, true),
	}
	for want, err := range tests {
		facts := live.Ask(t.Context(), refusing{err}, node("a"))
		if len(facts.Missing) != 2 || facts.Missing[0].Why != want || facts.Missing[1].Why != want {
			t.Errorf("%v: got %+v, want %q", err, facts.Missing, want)
		}
	}
}

func TestAsk_NobodyAnswers_SaysSoOfBoth(t *testing.T) {
	facts := live.Ask(t.Context(), answers{}, node("a"))
	if len(facts.Missing) != 2 || facts.Height != nil {
		t.Errorf("got %+v, want 2 Missing and Height nil", facts)
	}
}

func TestAsk_ASeed_IsNotAskedForAChain(t *testing.T) {
	seed := node("a")
	seed.Spec.FullNode, seed.Spec.Seed = nil, &v1alpha1.SeedSpec{}
	facts := live.Ask(t.Context(), answers{"a-0 7777 /v0/metrics": "# TYPE sei_node_peers gauge\nsei_node_peers 3\n", "a-0 26657 /abci_info": info(9, 9)}, seed)
	if facts.App != nil || facts.Peers == nil || *facts.Peers != 3 {
		t.Errorf("got %+v, want App nil, Peers not nil and Peers 3", facts)
	}
}

// estimating is what a sidecar answers whose chain gets to an upgrade at a time.
func estimating(name string, at time.Time) string {
	return fmt.Sprintf("# TYPE %[1]s gauge\n%[1]s{name=%[2]q} %[3]v\n", look.MetricUpgradeTime, name, float64(at.Unix()))
}

func TestAskUpgrade_TellsTheEstimateOrWhyThereIsNone(t *testing.T) {
	at := time.Date(2026, time.November, 15, 15, 20, 0, 0, time.UTC)
	const metrics = "a-0 7777 /v0/metrics"
	tests := []struct {
		name  string
		proxy live.Proxy
		want  *live.Upgrade
		why   string
	}{
		{"an upgrade is ahead", answers{metrics: estimating("v7", at)}, &live.Upgrade{Name: "v7", EstimatedTime: at}, ""},
		{"none is, or nobody can tell", answers{metrics: "# TYPE sei_node_height gauge\nsei_node_height 3\n"}, nil, ""},
		{"the sidecar is silent", answers{}, nil, "connection refused"},
		{"no right", refusing{apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a-0", errors.New("no"))}, nil, "your account may not get pods/proxy"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, why := live.AskUpgrade(t.Context(), test.proxy, node("a"))
			if diff := cmp.Diff(test.want, got); diff != "" || why != test.why {
				t.Errorf("why %q, want %q; (-want +got):\n%s", why, test.why, diff)
			}
			if all := live.Ask(t.Context(), test.proxy, node("a")); !cmp.Equal(test.want, all.Upgrade) {
				t.Errorf("with all facts: %+v", all.Upgrade)
			}
		})
	}
}

func TestAgreement_ComparesWithTheNextHeaderOfAnotherNode(t *testing.T) {
	tests := []struct {
		name    string
		answers answers
		want    live.Verdict
	}{
		{"the header of the other node has the same hash", answers{"b-0 26657 /commit?11": header(11, 1)}, live.Agrees},
		{"it has another one", answers{"b-0 26657 /commit?11": header(11, 2)}, live.Differs},
		{"only the node itself has the header", answers{"a-0 26657 /commit?11": header(11, 1)}, live.Unchecked},
		{"no header yet, the other one has the same state", answers{"b-0 26657 /abci_info": info(10, 1)}, live.Agrees},
		{"no header yet, the other one has another state", answers{"b-0 26657 /abci_info": info(10, 2)}, live.Differs},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b := node("a"), node("b")
			proxy := answers{"a-0 26657 /abci_info": info(10, 1), "b-0 26657 /abci_info": info(20, 7)}
			maps.Copy(proxy, test.answers)
			nodes := []*v1alpha1.SeiNode{a, b}
			got := live.Agreement(t.Context(), proxy, nodes, live.AskAll(t.Context(), proxy, nodes))
			if got[types.NamespacedName{Namespace: "sei", Name: "a"}] != test.want {
				t.Errorf("got %v, want %q", got, test.want)
			}
		})
	}
}

func TestAgreement_NodesOfOtherChains_AreNotAsked(t *testing.T) {
	a, b := node("a"), node("b")
	b.Spec.ChainID = "other"
	proxy := answers{"a-0 26657 /abci_info": info(10, 1), "b-0 26657 /abci_info": info(20, 7), "b-0 26657 /commit?11": header(11, 2)}
	nodes := []*v1alpha1.SeiNode{a, b}
	for name, verdict := range live.Agreement(t.Context(), proxy, nodes, live.AskAll(t.Context(), proxy, nodes)) {
		if verdict != live.Unchecked {
			t.Errorf("%s: %q, want %v", name, verdict, live.Unchecked)
		}
	}
}

func TestDiskLeft_ByThePaceSinceTheVolumeWasMade(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		disk live.Disk
		age  time.Duration
		want time.Duration
	}{
		{live.Disk{Size: 100, Free: 75}, 10 * day, 30 * day},
		{live.Disk{Size: 100, Free: 75}, time.Hour, 0},
		{live.Disk{Size: 100, Free: 100}, 10 * day, 0},
		{live.Disk{Size: 1 << 60, Free: 1<<60 - 1}, 10 * day, 100 * 365 * day},
	}
	for _, test := range tests {
		if got := test.disk.Left(test.age); got != test.want {
			t.Errorf("%+v after %s: %s, want %s", test.disk, test.age, got, test.want)
		}
	}
}
