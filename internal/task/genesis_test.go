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
			if got, ok := params.(wire.ConfigureGenesis); ok != c.genesis || (ok && got.ExpectedGenesisHash != "abc") {
				t.Errorf("parameters %+v, want a genesis: %t", params, c.genesis)
			}
		})
	}
}
