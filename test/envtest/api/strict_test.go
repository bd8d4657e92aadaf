package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestBadInput_IsRefusedWithWordsThatHelp(t *testing.T) {
	s := newServer(t)
	for what, c := range map[string]struct {
		kind, name, spec string
		want             string
	}{
		"unknown field":            {spec: node(full, "chainID: x"), want: `unknown field "spec.chainID"`},
		"unknown nested field":     {spec: node("fullNode: {snapshots: {}}"), want: `unknown field "spec.fullNode.snapshots"`},
		"unknown field in a fleet": {kind: "SeiNodeDeployment", spec: fleet(node(full, "replica: 1")), want: `unknown field "spec.template.spec.replica"`},
		"field of another mode":    {spec: node("seed: {nodeKey: {secret: {secretName: a}}, snapshot: {}}"), want: `unknown field "spec.seed.snapshot"`},
		"number for a string":      {spec: node(full, "overrides: {evm.http_port: 8545}"), want: "must be of type string"},
		"string for a bool":        {spec: node(full, `paused: "yes"`), want: "must be of type boolean"},
		"a list for a map":         {spec: node(full, "overrides: [a]"), want: "must be of type object"},
		"no spec at all":           {spec: "{}", want: "spec.chainId: Required value"},
		"unicode in the name":      {name: "nöde", spec: node(full), want: "metadata.name"},
		"capitals in the name":     {name: "Node", spec: node(full), want: "metadata.name"},
		"unicode in chainId":       {spec: strings.Replace(node(full), "pacific-1", "päcific", 1), want: "spec.chainId"},
		"chainId of 64 characters": {spec: strings.Replace(node(full), "pacific-1", strings.Repeat("a", 64), 1), want: "spec.chainId: Too long"},
		"a name of 254 characters": {name: strings.Repeat("a", 254), spec: node(full), want: "metadata.name"},
		"the same witness twice": {
			spec: node(`fullNode: {snapshot: {stateSync: {}, rpcServers: ["a:1", "a:1"]}}`), want: "Duplicate value",
		},
		"a witness with a password": {
			spec: node(`fullNode: {snapshot: {stateSync: {}, rpcServers: ["a:1", "https://user:secret@b"]}}`), want: "rpcServers[1]",
		},
		"the same account twice": {
			kind: "SeiNodeDeployment", want: "Duplicate value",
			spec: fleet(node("validator: {}"), "genesis: {chainId: pacific-1, accounts: ["+account+", "+account+"]}"),
		},
		"settings of the same node twice": {
			kind: "SeiNodeDeployment", spec: fleet(node(full), "nodes: [{ordinal: 1}, {ordinal: 1, paused: true}]"), want: `spec.nodes[1]: Duplicate value: {"ordinal":1}`,
		},
		"a quantity that is none": {kind: "SeiNodeDeployment", spec: fleet(node(full), "nodes: [{ordinal: 0, resources: {limits: {cpu: 1e400}}}]"), want: "spec.nodes[0].resources.limits.cpu"},
		"settings of no node":     {kind: "SeiNodeDeployment", spec: fleet(node(full), "nodes: [{paused: true}]"), want: "spec.nodes[0].ordinal"},
		"settings of node -1":     {kind: "SeiNodeDeployment", spec: fleet(node(full), "nodes: [{ordinal: -1}]"), want: "spec.nodes[0].ordinal"},
		"an unknown update strategy": {
			kind: "SeiNodeDeployment", spec: fleet(node(full), "updateStrategy: {type: Recreate}"), want: `spec.updateStrategy.type: Unsupported value: "Recreate"`,
		},
		"an unknown kind of task": {kind: "SeiNodeTask", spec: task("Dance", "restartSeid: {}"), want: `Unsupported value: "Dance"`},
		"a task without a target": {kind: "SeiNodeTask", spec: "kind: MarkReady\nmarkReady: {}", want: "spec.target: Required value"},
		"3 MB of overrides":       {spec: node(full, "overrides: {a: \""+strings.Repeat("v", 3<<20)+"\"}"), want: "too large"},
	} {
		t.Run(what, func(t *testing.T) {
			kind, name := "SeiNode", "x"
			if c.kind != "" {
				kind = c.kind
			}
			if c.name != "" {
				name = c.name
			}
			_, err := s.try(t.Context(), object(t, kind, name, c.spec))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the answer is %v, want %q", shorten(err), c.want)
			}
		})
	}
}

const account = "{address: sei1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq, balance: 1usei}"

func shorten(err error) string {
	if err == nil {
		return "yes"
	}
	return err.Error()[:min(len(err.Error()), 500)]
}

func TestDefaults_AreFilledIn(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct {
		kind, spec string
		want       map[string]any
	}{
		{"SeiNode", node(full, "sidecar: {}"), map[string]any{"spec.sidecar.port": int64(7777)}},
		{"SeiNode", node(withRing), map[string]any{"spec.validator.operatorKeyring.secret.keyName": "node_admin"}},
		{"SeiNodeDeployment", fleet(node(full), "updateStrategy: {inPlace: {}}"), map[string]any{
			"spec.replicas": int64(1), "spec.deletionPolicy": "Delete", "spec.updateStrategy.type": "InPlace",
			"spec.updateStrategy.inPlace.maxUnavailable": int64(1), "spec.updateStrategy.inPlace.progressDeadlineSeconds": int64(600),
			"spec.updateStrategy.inPlace.minReadySeconds": int64(10),
		}},
		{"SeiNodeDeployment", fleet(node("validator: {}"), "genesis: {chainId: pacific-1}"), map[string]any{
			"spec.genesis.stakingAmount": "10000000usei", "spec.genesis.maxCeremonyDuration": "15m",
			"spec.genesis.accountBalance": "1000000000000000000000usei,1000000000000000000000uusdc,1000000000000000000000uatom",
		}},
		{"SeiNodeTask", task("MarkReady", "markReady: {}"), map[string]any{"spec.target.requirePhase": "Running", "spec.target.requirePhaseTimeout": "5m"}},
	} {
		stored, err := s.try(t.Context(), object(t, c.kind, "x", c.spec))
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range c.want {
			got, _, err := unstructured.NestedFieldNoCopy(stored.Object, strings.Split(path, ".")...)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s %s: %v (-want +got):\n%s", c.kind, path, err, diff)
			}
		}
	}
}

// kubectl scale works on fleets and is bound by the same rules as an edit.
func TestScale_FollowsTheRules(t *testing.T) {
	s := newServer(t)
	for name, spec := range map[string]string{
		"plain": fleet(node(full)), "chain": fleet(node("validator: {}"), "genesis: {chainId: pacific-1}", "replicas: 2"),
	} {
		if _, err := s.of("SeiNodeDeployment").Create(t.Context(), object(t, "SeiNodeDeployment", name, spec), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, replicas, want string }{
		{"plain", "5", ""},
		{"plain", "0", "spec.replicas"},
		{"plain", "101", "spec.replicas"},
		{"chain", "3", "replicas cannot change while a genesis is set"},
	} {
		_, err := s.of("SeiNodeDeployment").Patch(t.Context(), c.name, types.MergePatchType,
			[]byte(`{"spec":{"replicas":`+c.replicas+`}}`), metav1.PatchOptions{}, "scale")
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("scaling %s to %s: %v, want %q", c.name, c.replicas, err, c.want)
		}
	}
}

// The columns are what people read first.
func TestColumns(t *testing.T) {
	s := newServer(t)
	want := map[string]string{
		"SeiNode":           "Chain Mode Phase Ready Image* Plan* StatefulSet* Age Problem",
		"SeiNodeDeployment": "Ready Replicas Up-to-date Phase Next-upgrade Upgrade-height* Paused Target* Age",
		"SeiNodeTask":       "Kind Target Fleet Phase Complete Nodes Age",
	}
	shortNames := map[string]string{"SeiNode": "snode", "SeiNodeDeployment": "snd", "SeiNodeTask": "snt"}
	for _, crd := range readCRDs(t, s) {
		kind := crd.Spec.Names.Kind
		var columns []string
		for _, c := range crd.Spec.Versions[0].AdditionalPrinterColumns {
			columns = append(columns, c.Name+strings.Repeat("*", int(c.Priority)))
		}
		if diff := cmp.Diff(want[kind], strings.Join(columns, " ")); diff != "" {
			t.Errorf("columns of %s (-want +got):\n%s", kind, diff)
		}
		if diff := cmp.Diff([]string{shortNames[kind]}, crd.Spec.Names.ShortNames); diff != "" {
			t.Errorf("short names of %s (-want +got):\n%s", kind, diff)
		}
	}
}
