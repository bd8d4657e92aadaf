package schema

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// base is an object whose fields are walked.
type base struct {
	name, kind string
	spec       string
}

const (
	nodeName  = "walked"
	fleetName = "fleet"
)

// bases are one SeiNode per mode, one fleet per mode, and one fleet of two for its own fields.
var bases = append(nodeBases, fleetBases()...)

var nodeBases = []base{
	{"full", v1alpha1.KindSeiNode, `{fullNode: {}}`},
	{"archive", v1alpha1.KindSeiNode, `{archive: {}}`},
	{"validator", v1alpha1.KindSeiNode, `{validator: {signingKey: {secret: {secretName: signing}}, nodeKey: {secret: {secretName: nodekey}}}}`},
	{"seed", v1alpha1.KindSeiNode, `{seed: {nodeKey: {secret: {secretName: nodekey}}}}`},
	{"replayer", v1alpha1.KindSeiNode, `
peers: [{static: {addresses: ["3be6b24cf86a5938cce7d48f44fb6598465a9924@p2p.example.com:26656"]}}]
replayer: {snapshot: {s3: {targetHeight: 100}, rpcServers: ["a.example.com:26657", "b.example.com:26657"]}}`},
}

// withoutMode is the base of a fleet's own fields.
const withoutMode = "fleet"

func fleetBases() []base {
	found := make([]base, 0, 1+len(nodeBases))
	found = append(found, base{withoutMode, v1alpha1.KindSeiNodeDeployment, nodeBases[0].spec})
	for _, b := range nodeBases {
		found = append(found, base{"fleet-" + b.name, v1alpha1.KindSeiNodeDeployment, b.spec})
	}
	return found
}

// manifest is the spec of a base.
func (b base) manifest(t *testing.T) map[string]any {
	t.Helper()
	node := overlay(decode(t, `{chainId: pacific-1, image: "seid:a"}`), decode(t, b.spec))
	if b.kind == v1alpha1.KindSeiNode {
		return node
	}
	fleet := decode(t, `{replicas: 1, updateStrategy: {type: InPlace, inPlace: {minReadySeconds: 0}}}`)
	fleet["template"] = map[string]any{"spec": node}
	if b.name == withoutMode {
		fleet["replicas"] = int64(2)
	}
	return fleet
}

func (b base) objectName() string {
	if b.kind == v1alpha1.KindSeiNode {
		return nodeName
	}
	return fleetName
}

// baseOf finds the base on which a field is walked: that of its mode.
func baseOf(f field) (base, bool) {
	path, inTemplate := f.inTemplate()
	prefix := ""
	switch {
	case f.kind == v1alpha1.KindSeiNodeTask:
		return base{}, false
	case f.kind == v1alpha1.KindSeiNodeDeployment && !inTemplate:
		return bases[len(nodeBases)], true
	case f.kind == v1alpha1.KindSeiNodeDeployment:
		prefix = "fleet-"
	default:
		path = f.path
	}
	mode := "full"
	for _, b := range nodeBases {
		if strings.HasPrefix(path, "spec."+b.name+".") {
			mode = b.name
		}
	}
	for _, b := range bases {
		if b.name == prefix+mode {
			return b, true
		}
	}
	return base{}, false
}

// arrange makes what the objects of a world name.
func arrange(w *world.World) {
	w.T.Helper()
	signing, _ := world.ConsensusKey('v')
	w.Create(world.Secret("signing", v1alpha1.SecretKeySigningKey, signing))
	w.Create(world.Secret("nodekey", v1alpha1.SecretKeyNodeKey, world.NodeKey('v')))
	w.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keyring"}, Data: map[string][]byte{
		"a.info": []byte("x"), "b.info": []byte("x"), "abcdef.address": []byte("y"), "keyhash": []byte("z"),
	}})
	w.Create(world.Secret("passphrase", "a", []byte("secret")))
	for _, name := range []string{"walk-a", "walk-b"} { // values of names that have no others
		data := map[string]string{"walk-a": "x", "walk-b": "y"}
		w.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: data})
		w.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data})
	}
	for _, name := range priorities {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: 7}
		if err := w.Client.Create(w.T.Context(), class); err != nil && !apierrors.IsAlreadyExists(err) {
			w.T.Fatal(err)
		}
	}
}

// peerNamespaces are those in which peers may be looked for.
var peerNamespaces = []string{"walk-a", "walk-b"}

// priorities are classes that exist in all worlds.
var priorities = []string{"walk-high", "walk-low"}

// decode reads YAML with numbers as the API machinery has them.
func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	value, _ := decodeAny(t, text).(map[string]any)
	return value
}

func decodeAny(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return whole(value)
}

// whole makes numbers what the API machinery expects them to be.
func whole(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return value
}
