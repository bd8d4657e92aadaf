package sidecarsim_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	seiv1alpha1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// rig plays the kubelet for one node, without an API server.
type rig struct {
	*sidecarsim.Sidecars
	t     *testing.T
	node  string
	claim types.UID
	image string
	key   []byte
	pool  *client.Pool

	pod *corev1.Pod
	ip  string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return &rig{
		Sidecars: sidecarsim.Start(t, sidecarsim.Options{}), t: t, node: "ns/n", claim: types.UID(uuid.NewString()),
		image: "seid:1", pool: client.NewPool(client.Options{Tokens: token("any")}),
	}
}

// beside is another node's rig on the same sidecars.
func (r *rig) beside(node string, claim types.UID) *rig {
	return &rig{Sidecars: r.Sidecars, t: r.t, node: node, claim: claim, image: r.image, pool: r.pool}
}

// start starts a new pod of the node: its sidecar, then its seid.
func (r *rig) start() *rig {
	r.t.Helper()
	r.newPod()
	r.Started(r.container("sidecar"))
	r.Started(r.container("seid"))
	return r
}

func (r *rig) newPod() {
	r.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(r.t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	_, name, _ := strings.Cut(r.node, "/")
	seid := corev1.Container{Name: "seid", Image: r.image}
	if r.key != nil {
		seid.VolumeMounts = []corev1.VolumeMount{{Name: "signing", MountPath: keyPath, SubPath: "priv_validator_key.json"}}
	}
	r.pod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name + "-0", UID: types.UID(uuid.NewString()), Labels: map[string]string{seiv1alpha1.LabelNode: name}},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "sidecar", Ports: []corev1.ContainerPort{{ContainerPort: int32(port)}}}},
			Containers:     []corev1.Container{seid},
		},
	}
	r.ip = "127.0.0.1"
}

const keyPath = "/home/nonroot/.sei/config/priv_validator_key.json"

func (r *rig) container(name string) podsim.Container {
	c := podsim.Container{Pod: r.pod, Name: name, IP: r.ip, Claims: map[string]types.UID{"data": r.claim}}
	if name == "seid" && r.key != nil {
		c.Files = map[string][]byte{keyPath: r.key}
	}
	return c
}

func (r *rig) stop() {
	r.Stopped(r.container("seid"))
	r.Stopped(r.container("sidecar"))
}

// restartContainer has the seid container end and start again.
func (r *rig) restartContainer() {
	r.Stopped(r.container("seid"))
	r.Started(r.container("seid"))
}

func (r *rig) address() string {
	return fmt.Sprintf("%s:%d", r.ip, r.pod.Spec.InitContainers[0].Ports[0].ContainerPort)
}

func (r *rig) sidecar() client.Sidecar {
	return r.pool.Sidecar(client.Target{Address: r.address(), Node: r.node, PodUID: string(r.pod.UID)})
}

func (r *rig) submit(task api.TaskType, params string) string {
	r.t.Helper()
	id, err := r.sidecar().Submit(r.t.Context(), api.TaskRequest{Type: task, Params: json.RawMessage(params)})
	if err != nil {
		r.t.Fatalf("submitting %s: %v", task, err)
	}
	return id
}

// run runs a task to its end.
func (r *rig) run(task api.TaskType, params string) api.TaskResult {
	r.t.Helper()
	return await(r.t, r.sidecar(), r.submit(task, params))
}

// must runs a task that has to complete.
func (r *rig) must(task api.TaskType, params string) api.TaskResult {
	r.t.Helper()
	result := r.run(task, params)
	if result.Status != api.TaskCompleted {
		r.t.Fatalf("%s %s: %s, want Status %v", task, params, result.Error, api.TaskCompleted)
	}
	return result
}

// wantFailed runs a task that has to fail for good, with a code and words.
func (r *rig) wantFailed(task api.TaskType, params, code, words string) {
	r.t.Helper()
	result := r.run(task, params)
	if result.Status != api.TaskFailed || result.ErrorDetail == nil || result.ErrorDetail.Code != code || !result.ErrorDetail.Terminal ||
		!strings.Contains(result.Error, words) {
		r.t.Errorf("%s %s = %+v (%+v), want %s: %s", task, params, result, result.ErrorDetail, code, words)
	}
}

// configure writes and validates a configuration of a mode.
func (r *rig) configure(mode, hash, overrides string) {
	r.t.Helper()
	r.must(api.ConfigureGenesis, `{}`)
	r.apply(mode, hash, overrides)
	r.must(api.ConfigValidate, `{}`)
}

func (r *rig) apply(mode, hash, overrides string) api.TaskResult {
	r.t.Helper()
	return r.must(api.ConfigApply, fmt.Sprintf(`{"mode":%q,"configHash":%q,"overrides":%s}`, mode, hash, overrides))
}

// open opens the gate for a configuration and address.
func (r *rig) open(hash, address string) {
	r.t.Helper()
	r.must(api.MarkReady, expect(hash, address))
}

func expect(hash, address string) string {
	return fmt.Sprintf(`{"expect":{"configHash":%q,"consensusAddress":%q}}`, hash, address)
}

// get asks the sidecar and decodes what it answers with 200.
func (r *rig) get(path string, into any) int {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+r.address()+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer any")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusOK {
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			r.t.Fatal(err)
		}
	}
	return resp.StatusCode
}

// document is the answer to GET /v0/node.
func (r *rig) document() api.Node {
	r.t.Helper()
	var doc api.Node
	if status := r.get(api.PathNode, &doc); status != http.StatusOK {
		r.t.Fatalf("the node document: %d", status)
	}
	return doc
}

func (r *rig) wantState(state api.SeidState, starts int) {
	r.t.Helper()
	if got := r.Process(r.node); got.State != state || got.Starts != starts {
		r.t.Errorf("seid is %s after %d starts, want %s after %d", got.State, got.Starts, state, starts)
	}
}

func (r *rig) wantNoViolations() {
	r.t.Helper()
	if got := r.Violations(); len(got) > 0 {
		r.t.Errorf("violations: %q, want none", got)
	}
}

// signingKey is a key file made from a seed, and its address.
func signingKey(seed byte) (file []byte, address string) {
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	public := key.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(public)
	address = strings.ToUpper(hex.EncodeToString(sum[:20]))
	return fmt.Appendf(nil, `{"address":%q,"pub_key":{"type":"tendermint/PubKeyEd25519","value":%q},"priv_key":{"type":"tendermint/PrivKeyEd25519","value":%q}}`,
		address, base64.StdEncoding.EncodeToString(public), base64.StdEncoding.EncodeToString(key)), address
}
