package task

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

func founders(namespace, chain string) *v1alpha1.SeiNodeDeployment {
	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "founders"}}
	fleet.Spec.Genesis = &v1alpha1.GenesisCeremony{ChainID: chain}
	return fleet
}

func genesisMap(namespace, chain string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "genesis", Labels: map[string]string{v1alpha1.LabelGenesis: chain},
			Annotations: map[string]string{v1alpha1.AnnotationGenesisHash: "abc"},
		},
		BinaryData: map[string][]byte{v1alpha1.GenesisDataKey: []byte("zipped")},
	}
}

func TestConfigureGenesisParams_WaitsOnlyForACeremonyOfItsOwnChainAndNamespace(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		objects []client.Object
		waits   bool
		genesis bool
	}{
		{name: "nobody knows the chain: the sidecar may"},
		{name: "a fleet founds it", objects: []client.Object{founders("ns", "new-1")}, waits: true},
		{name: "a fleet has founded it", objects: []client.Object{founders("ns", "new-1"), genesisMap("ns", "new-1")}, genesis: true},
		{name: "a fleet founds another", objects: []client.Object{founders("ns", "other-1")}},
		{name: "a fleet elsewhere founds one of that name", objects: []client.Object{founders("elsewhere", "new-1")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "full"}}
			node.Spec.ChainID = "new-1"
			env := &Env{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(c.objects...).Build(), Node: node}
			params, err := configureGenesisParams(t.Context(), env, nil)
			var missing *missingInputError
			if waits := errors.As(err, &missing); waits != c.waits || (err != nil && !waits) {
				t.Errorf("error %v, want to wait: %t", err, c.waits)
			}
			want := "waiting for the genesis of new-1: the ceremony of SeiNodeDeployment founders is not complete, and its condition GenesisCeremonyComplete says why"
			if c.waits && (missing.Error() != want || !missing.untimed) {
				t.Errorf("waits with %q, without a deadline: %t", missing, missing.untimed)
			}
			if got, ok := params.(wire.ConfigureGenesis); ok != c.genesis || (ok && got.ExpectedGenesisHash != "abc") {
				t.Errorf("parameters %+v, want a genesis: %t", params, c.genesis)
			}
		})
	}
}

// Two geneses of one chain id are two chains; a validator is of its own fleet's. (G4)
func TestG4_ChooseGenesis_ItsOwnFleetsOrTheOnlyOne(t *testing.T) {
	stored := func(name, hash string) corev1.ConfigMap {
		c := genesisMap("ns", "new-1")
		c.Name, c.Annotations[v1alpha1.AnnotationGenesisHash] = name, hash
		return *c
	}
	full := &v1alpha1.SeiNode{}
	member := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelDeployment: "val"}}}
	member.Spec.Validator = &v1alpha1.ValidatorSpec{GenesisCeremony: &v1alpha1.GenesisCeremonyMember{}}
	for name, tc := range map[string]struct {
		node  *v1alpha1.SeiNode
		found []corev1.ConfigMap
		want  string
		fails bool
	}{
		"none":                            {node: full},
		"the only one":                    {node: full, found: []corev1.ConfigMap{stored("a", "1")}, want: "a"},
		"two of one content":              {node: full, found: []corev1.ConfigMap{stored("a", "1"), stored("b", "1")}, want: "a"},
		"two that differ":                 {node: full, found: []corev1.ConfigMap{stored("a", "1"), stored("b", "2")}, fails: true},
		"a member, its fleet's":           {node: member, found: []corev1.ConfigMap{stored("a", "1"), stored("val-genesis", "2")}, want: "val-genesis"},
		"a member, another fleet's alone": {node: member, found: []corev1.ConfigMap{stored("a", "1")}},
	} {
		got, err := chooseGenesis(tc.node, tc.found)
		if (err != nil) != tc.fails || (got == nil) != (tc.want == "") || got != nil && got.Name != tc.want {
			t.Errorf("%s: %v, %v, want %q and an error: %t", name, got, err, tc.want, tc.fails)
		}
	}
}
