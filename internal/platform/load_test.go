package platform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

func TestLoad_NoFile_GivesTheDefaults(t *testing.T) {
	cfg, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), cfg); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if problems := check(cfg, nil); len(problems) != 0 {
		t.Errorf("the defaults do not pass their own checks: %v", problems)
	}
}

func TestLoad_EmptyFileCommentsAndEmptySections_GiveTheDefaults(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "{}", "storage:\nscheduling:\n  archive:\n", "null"} {
		cfg, err := parse("f", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(Default().Storage.Default, cfg.Storage.Default); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestLoad_MissingFile_IsAnErrorThatNamesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.yaml")
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error with %q", err, path)
	}
}

func TestLoad_Example_SetsEveryField(t *testing.T) {
	cfg, err := Load(filepath.Join("testdata", "full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		ClusterDomain: "k8s.example.com",
		Images:        Images{Sidecar: "example.com/sidecar:v1"},
		Scheduling: PerMode[Scheduling]{
			Default: Scheduling{
				NodeSelector:       map[string]string{"pool": "sei", "version": "1"},
				Tolerations:        []corev1.Toleration{{Key: "sei", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(300))}},
				PriorityClassName:  "high",
				ServiceAccountName: "seid",
				TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: "ScheduleAnyway",
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"sei.io/role": "node"}},
				}},
			},
			Archive: &Scheduling{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "pool", Operator: "In", Values: []string{"archive"}}},
				}}},
			}}},
		},
		Storage: PerMode[Storage]{
			Default: Storage{ClassName: new("fast"), Size: new(resource.MustParse("2000Gi"))},
			Archive: &Storage{ClassName: new(""), Size: new(resource.MustParse("40Ti"))},
		},
		Resources: Resources{
			PerMode: PerMode[ContainerResources]{
				Default:   ContainerResources{Requests: list("4", "32Gi")},
				Validator: &ContainerResources{Requests: list("16", "128Gi"), Limits: corev1.ResourceList{"memory": resource.MustParse("128Gi")}},
			},
			Sidecar: ContainerResources{Requests: list("500m", "256Mi")},
		},
		Buckets:   Buckets{Snapshot: "s3://snapshots?region=eu-central-1", Genesis: "gs://genesis", ResultExport: "file:///var/results"},
		Snapshots: Snapshots{UploadTimeout: &metav1.Duration{Duration: 3 * time.Hour}},
		VolumeSnapshots: VolumeSnapshots{
			BeforeUpgrades: true, ClassName: "fast-snapshots", Keep: 3, Timeout: &metav1.Duration{Duration: 90 * time.Second},
		},
		Sidecar: Sidecar{StandingPermission: &metav1.Duration{Duration: 12 * time.Hour}},
		Gateway: Gateway{
			Name: "public", Namespace: "gateways", Domain: "nodes.example.com", PublicDomain: "example.org",
			P2PDomain: "p2p.example.com", NLBTargetType: TargetTypeInstance, Hostname: "$(NAME)-$(PROTOCOL)",
		},
		P2P: P2P{
			Type: P2PLoadBalancer, Preset: PresetNone, LoadBalancerClass: "example.com/lb",
			Annotations: map[string]string{"example.com/pool": "public"}, Hostname: "$(NAME)-$(ORDINAL).$(NAMESPACE)",
		},
		NetworkPolicies: NetworkPolicies{
			Enabled: new(false), OperatorPodLabels: map[string]string{"app": "sei-operator"},
			SidecarNamespaces: []string{"ops"}, RPCNamespaces: []string{"gateways", "apps"}, MetricsNamespaces: []string{"monitoring"},
		},
		StateSync: StateSync{Syncers: map[string][]string{"pacific-1": {"a.example.com:26657", "b.example.com:443"}}},
		Peers:     Peers{EC2: EC2Peers{Regions: []string{"eu-central-1"}, Tags: []string{"sei-chain", "role=sentry"}}, Label: LabelPeers{Namespaces: []string{"sentries"}}},
	}
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func list(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
}

// TestLoad_Mistakes shows what a user reads for every kind of mistake.
func TestLoad_Mistakes_NameFileLineAndField(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"unknown top-level field":   {"clusterDomain: a\nstorge: {}\n", "f:2: storge: unknown field; there are: buckets, clusterDomain"},
		"unknown nested field":      {"storage:\n  archive:\n    klass: x\n", "f:3: storage.archive.klass: unknown field; there are: className, size"},
		"unknown field in k8s type": {"scheduling:\n  default:\n    tolerations:\n    - keey: x\n", "f:4: scheduling.default.tolerations[0].keey: unknown field"},
		"unknown mode":              {"resources:\n  rpc: {}\n", "f:2: resources.rpc: unknown field; there are: archive, default, fullNode, replayer, seed, sidecar, validator"},
		"field twice":               {"clusterDomain: a\nimages: {}\nclusterDomain: b\n", "f:3: clusterDomain: written twice"},
		"bad quantity":              {"storage:\n  default:\n    size: 5 GB\n", `f:3: storage.default.size: "5 GB" cannot be read`},
		"bad request":               {"resources:\n  default:\n    requests:\n      cpu: many\n", `f:4: resources.default.requests.cpu: "many" cannot be read`},
		"bad duration":              {"snapshots:\n  uploadTimeout: 2 hours\n", `f:2: snapshots.uploadTimeout: "2 hours" cannot be read`},
		"duration without a unit":   {"snapshots:\n  uploadTimeout: 30\n", "f:2: snapshots.uploadTimeout"},
		"negative permission":       {"sidecar:\n  standingPermission: -1h\n", "f:2: sidecar.standingPermission: must not be negative"},
		"duration of zero":          {"snapshots:\n  uploadTimeout: 0s\n", "f:2: snapshots.uploadTimeout: must be longer than zero"},
		"no snapshot kept":          {"volumeSnapshots:\n  keep: -1\n", "f:2: volumeSnapshots.keep: must be at least 1"},
		"no time for a snapshot":    {"volumeSnapshots:\n  timeout: 0s\n", "f:2: volumeSnapshots.timeout: must be longer than zero"},
		"bad snapshot class":        {"volumeSnapshots:\n  className: Fast One\n", `f:2: volumeSnapshots.className: "Fast One" is no name`},
		"odd namespace":             {"networkPolicies:\n  rpcNamespaces: [Apps]\n", `f:2: networkPolicies.rpcNamespaces[0]: "Apps" is not a namespace`},
		"odd namespace of peers":    {"peers:\n  label:\n    namespaces: ['*', a/b]\n", `f:3: peers.label.namespaces[1]: "a/b" is not a namespace`},
		"odd label":                 {"networkPolicies:\n  operatorPodLabels:\n    app: a b\n", `f:3: networkPolicies.operatorPodLabels.app: "app=a b" is not a label`},
		"no labels":                 {"networkPolicies:\n  operatorPodLabels: {}\n", "f:2: networkPolicies.operatorPodLabels: must not be empty"},
		"mapping for text":          {"clusterDomain: {a: b}\n", "f:1: clusterDomain: want a single value, not a mapping"},
		"text for mapping":          {"storage: big\n", "f:1: storage: want a mapping"},
		"text for list":             {"scheduling:\n  default:\n    tolerations: all\n", "f:3: scheduling.default.tolerations: want a list"},
		"list for quantity":         {"storage:\n  default:\n    size: [1]\n", "f:3: storage.default.size: want a single value, not a list"},
		"number for text":           {"scheduling:\n  default:\n    nodeSelector:\n      version: 1\n", "f:4: scheduling.default.nodeSelector.version: want text: put 1 in quotes"},
		"text for number":           {"scheduling:\n  default:\n    topologySpreadConstraints:\n    - maxSkew: one\n", `f:4: scheduling.default.topologySpreadConstraints[0].maxSkew: want a whole number, not "one"`},
		"number too large":          {"scheduling:\n  default:\n    topologySpreadConstraints:\n    - maxSkew: 99999999999\n", "f:4: scheduling.default.topologySpreadConstraints[0].maxSkew"},
		"top level is a list":       {"- a\n", "f:1: (top level): want a mapping"},
		"syntax":                    {"a: b\n  c: d\n", "f:2: "},
		"two documents":             {"clusterDomain: a\n---\nclusterDomain: b\n", "f:2: a second YAML document"},
		"bad second document":       {"clusterDomain: a\n---\na: [\n", "f:"},
		"tabs":                      {"storage:\n\tdefault: {}\n", "f:2: "},
		"no such domain":            {"clusterDomain: Cluster_Local\n", `f:1: clusterDomain: "Cluster_Local" is not a DNS name`},
		"image without a registry":  {"images:\n  sidecar: sei-operator/sidecar:v1\n", `f:2: images.sidecar: "sei-operator/sidecar:v1" names no registry`},
		"size of zero":              {"storage:\n  seed:\n    size: 0\n", "f:3: storage.seed.size: must be more than zero"},
		"class name":                {"storage:\n  seed:\n    className: A_B\n", "f:3: storage.seed.className"},
		"unknown resource":          {"resources:\n  sidecar:\n    limits:\n      memroy: 1Gi\n", "f:4: resources.sidecar.limits.memroy: no such resource"},
		"negative resource":         {"resources:\n  default:\n    limits:\n      cpu: -1\n", "f:4: resources.default.limits.cpu: must not be negative"},
		"request above limit":       {"resources:\n  archive:\n    requests: {memory: 2Gi}\n    limits: {memory: 1Gi}\n", "f:3: resources.archive.requests.memory: 2Gi is more than the limit of 1Gi"},
		"bucket without scheme":     {"buckets:\n  snapshot: my-bucket\n", `f:2: buckets.snapshot: "my-bucket" must begin with one of s3://, gs://, azblob://, file://`},
		"bucket without name":       {"buckets:\n  genesis: s3://?region=x\n", "f:2: buckets.genesis: \"s3://?region=x\" names no bucket"},
		"bucket with credentials":   {"buckets:\n  resultExport: s3://user:pass@b\n", "f:2: buckets.resultExport: holds credentials"},
		"bucket that is no address": {"buckets:\n  snapshot: \"s3://%zz\"\n", "f:2: buckets.snapshot"},
		"half a gateway":            {"gateway:\n  name: g\n", "f:1: gateway: name, namespace and domain come together; missing: domain, namespace"},
		"target type":               {"gateway:\n  nlbTargetType: pod\n", `f:2: gateway.nlbTargetType: "pod" is neither ip nor instance`},
		"unknown variable":          {"gateway:\n  hostname: $(NAME)-$(PROTOCOL).$(CLUSTER)\n", "f:2: gateway.hostname: $(CLUSTER) is no variable; there are: $(NAME), $(PROTOCOL), $(NAMESPACE)"},
		"host without a variable":   {"p2p:\n  hostname: $(NAME)\n", "f:2: p2p.hostname: $(ORDINAL) is missing: without it two objects would have the same host name"},
		"host that is no name":      {"gateway:\n  hostname: $(NAME)_$(PROTOCOL)\n", `f:2: gateway.hostname: "x_x" is not a DNS name`},
		"p2p type":                  {"p2p:\n  type: Ingress\n", `f:2: p2p.type: "Ingress" is none of LoadBalancer, NodePort and HostPort`},
		"p2p preset":                {"p2p:\n  preset: gcp\n", `f:2: p2p.preset: "gcp" is neither aws nor none`},
		"class without balancers":   {"p2p:\n  type: NodePort\n  loadBalancerClass: a.example/b\n", "f:3: p2p.loadBalancerClass: needs type LoadBalancer"},
		"class that is no name":     {"p2p:\n  loadBalancerClass: a b\n", `f:2: p2p.loadBalancerClass: "a b" is not the name of a class`},
		"annotation":                {"p2p:\n  annotations: {a b: c}\n", "p2p.annotations.a b: is not an annotation"},
		"regions without tags":      {"peers:\n  ec2:\n    regions: [eu-central-1]\n", "f:2: peers.ec2: regions and tags come together"},
		"tag without a name":        {"peers:\n  ec2:\n    regions: [a]\n    tags: [\"=x\"]\n", `f:4: peers.ec2.tags[0]: "=x" names no tag`},
		"one witness":               {"stateSync:\n  syncers:\n    c-1: [\"a:1\"]\n", "f:3: stateSync.syncers.c-1: different witnesses listed: 1"},
		"one witness twice":         {"stateSync:\n  syncers:\n    c-1: [\"a:1\", \"a:1\"]\n", "f:3: stateSync.syncers.c-1: different witnesses listed: 1"},
		"witness without port":      {"stateSync:\n  syncers:\n    c-1:\n    - a:1\n    - b\n", `f:5: stateSync.syncers.c-1[1]: "b" has no port`},
		"selector":                  {"scheduling:\n  default:\n    nodeSelector: {\"a b\": c}\n", "f:3: scheduling.default.nodeSelector.a b: is not a label"},
		"toleration operator":       {"scheduling:\n  seed:\n    tolerations:\n    - {key: a, operator: Is}\n", "f:4: scheduling.seed.tolerations[0].operator"},
		"toleration value":          {"scheduling:\n  seed:\n    tolerations:\n    - {key: a, operator: Exists, value: b}\n", "tolerations[0].value: operator Exists takes no value"},
		"toleration key":            {"scheduling:\n  seed:\n    tolerations:\n    - {value: b}\n", "f:4: scheduling.seed.tolerations[0].key: is missing"},
		"toleration effect":         {"scheduling:\n  seed:\n    tolerations:\n    - {key: a, effect: Never}\n", "tolerations[0].effect"},
		"spread":                    {"scheduling:\n  seed:\n    topologySpreadConstraints:\n    - {maxSkew: 0}\n", "topologySpreadConstraints[0].topologyKey: is missing"},
	}
	for name, tt := range tests {
		_, err := parse("f", []byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s:\n got %v\nwant %s", name, err, tt.want)
		}
	}
}

func TestLoad_SeveralMistakes_AreAllToldInTheOrderOfTheFile(t *testing.T) {
	text := "resources:\n  default:\n    requests: {memroy: 1Gi, cpuu: 1}\nbuckets:\n  snapshot: x\n  genesis: y\ngateway:\n  nlbTargetType: z\n"
	_, first := parse("f", []byte(text))
	lines := strings.Split(first.Error(), "\n")
	want := []string{
		"f:3: resources.default.requests.cpuu:", "f:3: resources.default.requests.memroy:",
		"f:5: buckets.snapshot:", "f:6: buckets.genesis:", "f:8: gateway.nlbTargetType:",
	}
	if len(lines) != len(want) {
		t.Fatalf("got:\n%v", first)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want[i])
		}
	}
	for range 20 {
		if _, again := parse("f", []byte(text)); again.Error() != first.Error() {
			t.Fatalf("not the same twice:\n%v\n%v", first, again)
		}
	}
}

func TestLoad_Anchors_AreFollowed(t *testing.T) {
	cfg, err := parse("f", []byte("storage:\n  default: &big {size: 3Ti}\n  archive: *big\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.StorageSizeFor(v1alpha1.RoleArchive); got.String() != "3Ti" {
		t.Errorf("got %s, want %q", got.String(), "3Ti")
	}
}

func TestDocumentedExample_Loads(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "platform-config.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(doc), "```yaml\n")
	if len(blocks) < 2 {
		t.Fatal("the document has no example")
	}
	for _, block := range blocks[1:] {
		text, _, _ := strings.Cut(block, "```")
		if _, err := parse("docs", []byte(text)); err != nil {
			t.Errorf("%v in:\n%s", err, text)
		}
	}
}

func FuzzParse_NeverPanics(f *testing.F) {
	f.Add([]byte("storage: {default: {size: 5Gi}}"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("scheduling: {default: {tolerations: [{tolerationSeconds: 1}]}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := parse("f", data)
		if (cfg == nil) == (err == nil) {
			t.Errorf("got %v and %v", cfg, err)
		}
	})
}

func TestLoad_DefaultWithoutARegistry_IsRefusedLikeOneOfTheFile(t *testing.T) {
	before := DefaultSidecarImage
	t.Cleanup(func() { DefaultSidecarImage = before })
	DefaultSidecarImage = "sidecar:v1"
	if _, err := Load(""); err == nil || !strings.Contains(err.Error(), `images.sidecar: "sidecar:v1" names no registry`) {
		t.Errorf("got %v, want an error that names images.sidecar", err)
	}
}

func TestNamesRegistry(t *testing.T) {
	tests := map[string]bool{
		"seid": false, "seid:v6": false, "sei-operator/sidecar:v1": false, "library/seid@sha256:0": false,
		"localhost/seid:v6": true, "localhost:5000/seid": true, "registry:5000/seid:v6": true,
		"registry.example.com/seid:v6": true, "registry.example.com/team/seid@sha256:0": true, "registry.example.com": false,
	}
	for image, want := range tests {
		if got := NamesRegistry(image); got != want {
			t.Errorf("NamesRegistry(%q) = %v, want %v", image, got, want)
		}
	}
}
