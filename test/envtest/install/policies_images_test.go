package install_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/definitions"
)

const (
	listedImage   = "registry.example.com/sei/seid:v7"
	unlistedImage = "docker.io/evil/seid:v7"
)

// nodeImages put an image into a spec, by the field that names it.
var nodeImages = map[string]func(*v1alpha1.SeiNodeSpec, string){
	"image":         func(s *v1alpha1.SeiNodeSpec, image string) { s.Image = image },
	"sidecar.image": func(s *v1alpha1.SeiNodeSpec, image string) { s.Sidecar = &v1alpha1.SidecarSpec{Image: image} },
	"upgrades[].image": func(s *v1alpha1.SeiNodeSpec, image string) {
		s.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v6.1", Image: "registry.example.com/sei/seid:v6.1"}, {Name: "v7", Image: image}}
	},
	"fullNode.snapshot.bootstrapImage": func(s *v1alpha1.SeiNodeSpec, image string) { s.FullNode.Snapshot = bootstrappedBy(image) },
	"replayer.snapshot.bootstrapImage": func(s *v1alpha1.SeiNodeSpec, image string) {
		s.FullNode, s.Replayer = nil, &v1alpha1.ReplayerSpec{Snapshot: *bootstrappedBy(image)}
		s.Peers = []v1alpha1.PeerSource{{Static: &v1alpha1.StaticPeers{Addresses: []v1alpha1.PeerAddress{v1alpha1.PeerAddress(strings.Repeat("a", 40) + "@peer:26656")}}}}
	},
	"validator.snapshot.bootstrapImage": func(s *v1alpha1.SeiNodeSpec, image string) {
		s.FullNode, s.Validator = nil, &v1alpha1.ValidatorSpec{Snapshot: bootstrappedBy(image)}
	},
}

// noImages are fields that are called after images and name none.
var noImages = map[string]string{
	"imagePullSecrets[].name": "names a Secret",
}

func bootstrappedBy(image string) *v1alpha1.SnapshotSource {
	return &v1alpha1.SnapshotSource{BootstrapImage: image, S3: &v1alpha1.S3Snapshot{TargetHeight: 5}}
}

// withImages make an object whose image is of no listed repository in one field alone, by its kind and the field.
func withImages() map[string]func(image string) client.Object {
	all := map[string]func(string) client.Object{
		"SeiNodeTask spec.updateNodeImage.image": func(image string) client.Object {
			return &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: "u"}, Spec: v1alpha1.SeiNodeTaskSpec{
				Kind: v1alpha1.TaskKindUpdateNodeImage, Target: onNode("rpc"), UpdateNodeImage: &v1alpha1.UpdateNodeImage{Image: image},
			}}
		},
	}
	for field, put := range nodeImages {
		all["SeiNode spec."+field] = func(image string) client.Object {
			node := fullNode()
			put(&node.Spec, image)
			return node
		}
		all["SeiNodeDeployment spec.template.spec."+field] = func(image string) client.Object {
			fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}}
			fleet.Spec.Replicas, fleet.Spec.Template.Spec = 1, fullNode().Spec
			put(&fleet.Spec.Template.Spec, image)
			return fleet
		}
	}
	return all
}

func fullNode() *v1alpha1.SeiNode {
	return &v1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Name: "rpc"},
		Spec:       v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: allowedImage, FullNode: &v1alpha1.FullNodeSpec{}},
	}
}

// imageFields are the fields of the CRDs' specs that name an image, by their kind: everything that is called after
// images, itself or by what it belongs to, and has no fields of its own.
func imageFields(t *testing.T) []string {
	t.Helper()
	own, err := definitions.Own()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	excused := map[string]bool{}
	for kind, fields := range own {
		for _, field := range fields {
			of, isSpec := strings.CutPrefix(field, "spec.")
			if !isSpec || !strings.Contains(strings.ToLower(of), "image") || hasFields(fields, field) {
				continue
			}
			if of = strings.TrimPrefix(of, "template.spec."); noImages[of] != "" {
				excused[of] = true
				continue
			}
			found = append(found, kind+" "+field)
		}
	}
	for field := range noImages {
		if !excused[field] {
			t.Errorf("there is no field %s any more: remove it from noImages", field)
		}
	}
	slices.Sort(found)
	return found
}

func hasFields(fields []string, field string) bool {
	return slices.ContainsFunc(fields, func(other string) bool {
		below, is := strings.CutPrefix(other, field)
		return is && strings.ContainsAny(below[:min(len(below), 1)], ".[{")
	})
}

// A field that is new has to be tried, and so read by the policy.
func TestPolicies_Images_EveryFieldOfTheCRDsIsTried(t *testing.T) {
	if diff := cmp.Diff(imageFields(t), slices.Sorted(maps.Keys(withImages()))); diff != "" {
		t.Errorf("fields of config/crd that name an image, and those that these tests try (-fields +tried):\n%s", diff)
	}
}

func TestPolicies_Images_AreOfTheListedRepositoriesInEveryField(t *testing.T) {
	w := newTenant(t)
	node := fullNode()
	node.Spec.Image = unlistedImage
	w.becomes("image "+unlistedImage+" is of no repository", w.dryRun(node))
	for field, with := range withImages() {
		if err := w.dryRun(with(unlistedImage))(t.Context()); err == nil || !strings.Contains(err.Error(), "image "+unlistedImage+" is of no repository") {
			t.Errorf("%s with an image that is not listed: %v", field, err)
		}
		if err := w.dryRun(with(listedImage))(t.Context()); err != nil {
			t.Errorf("%s with an image of the list: %v", field, err)
		}
	}
	node.Spec.Image = "registry.example.com/sei-evil/seid:v6"
	if err := w.dryRun(node)(t.Context()); err == nil || !strings.Contains(err.Error(), "is of no repository") {
		t.Errorf("a repository whose name is longer than a listed one: %v", err)
	}
}

// An image that is there already blocks no other change.
func TestPolicies_Images_ThatAreThereMayStay(t *testing.T) {
	w := newTenant(t)
	here := fullNode()
	here.Spec.Image = unlistedImage
	w.becomes("is of no repository", w.dryRun(here))
	here.Namespace = w.namespace
	operator, err := client.New(w.env.As("system:serviceaccount:"+namespace+":"+account, "system:masters"), client.Options{Scheme: w.env.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	if err := operator.Create(t.Context(), here); err != nil {
		t.Fatalf("the operator itself: %v", err)
	}
	for _, tc := range []struct{ what, patch, refused string }{
		{"a change of something else", `{"spec":{"paused":true}}`, ""},
		{"a change to another image", `{"spec":{"image":"docker.io/evil/seid:v8"}}`, "docker.io/evil/seid:v8"},
		{"an upgrade", `{"spec":{"upgrades":[{"name":"v8","image":"docker.io/evil/seid:v8"}]}}`, "docker.io/evil/seid:v8"},
		{"an upgrade to an image of the list", `{"spec":{"upgrades":[{"name":"v7","image":"` + listedImage + `"}]}}`, ""},
		{
			"an upgrade after it",
			`{"spec":{"upgrades":[{"name":"v7","image":"` + listedImage + `"},{"name":"v8","image":"docker.io/evil/seid:v8"}]}}`, "docker.io/evil/seid:v8",
		},
	} {
		err := w.Patch(t.Context(), &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}}, client.RawPatch(client.Merge.Type(), []byte(tc.patch)))
		if tc.refused == "" && err != nil {
			t.Errorf("%s: %v", tc.what, err)
		}
		if tc.refused != "" && (err == nil || !strings.Contains(err.Error(), "image "+tc.refused+" is of no repository")) {
			t.Errorf("%s is not refused: %v", tc.what, err)
		}
	}
}
