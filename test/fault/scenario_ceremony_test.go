package fault

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecarwire "github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// ofCeremonies are three validators that start a chain. The keys on their volumes are those of their
// names, so the genesis is the same in every run.
var ofCeremonies = []*scenario{{
	name:    "ceremony",
	arrange: programGenesis,
	act: func(r *run) {
		template := world.FullNode("").Spec
		template.ChainID, template.FullNode, template.Validator = "demo", nil, &v1alpha1.ValidatorSpec{}
		r.Create(&v1alpha1.SeiNodeDeployment{
			ObjectMeta: metav1.ObjectMeta{Name: "val"},
			Spec: v1alpha1.SeiNodeDeploymentSpec{
				Replicas:       3,
				UpdateStrategy: &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MinReadySeconds: new(int32)}},
				Template:       v1alpha1.SeiNodeTemplate{Spec: template},
				Genesis:        &v1alpha1.GenesisCeremony{ChainID: "demo"},
			},
		})
	},
	settle: func(r *run) {
		envtest.WaitFor(r.T, r.Env, r.NS, "val", func(f *v1alpha1.SeiNodeDeployment) bool {
			return f != nil && f.Status.Plan == nil &&
				conditions.Is(f.Status.Conditions, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, v1alpha1.ReasonCeremonyComplete)
		})
		r.settleFleet("val")
	},
	objects: []object{fleet("val"), node("val-0"), node("val-1"), node("val-2")},
}}

// gentx is what the sidecars export in the place of a real one.
type gentx struct {
	Validator string `json:"validator"`
}

// programGenesis has sidecars export gentxs that name their validators, and assemble a genesis that
// lists the keys on the volumes of those.
func programGenesis(r *run) {
	r.Sidecars.Program("", api.ExportGentx, sidecarsim.Outcome{Do: func(_ context.Context, call sidecarsim.Call) (any, error) {
		tx, err := json.Marshal(gentx{strings.TrimPrefix(call.Node, r.NS+"/")})
		return sidecarwire.Gentx{Gentx: tx}, err
	}})
	r.Sidecars.Program("", api.AssembleGenesis, sidecarsim.Outcome{Do: func(_ context.Context, call sidecarsim.Call) (any, error) {
		return assemble(call.Params, func(validator string) string { return r.Sidecars.VolumeKey(r.Key(validator)) })
	}})
}

func assemble(params json.RawMessage, keyOf func(validator string) string) (*sidecarwire.AssembledGenesis, error) {
	var from sidecarwire.AssembleGenesis
	if err := json.Unmarshal(params, &from); err != nil {
		return nil, fmt.Errorf("reading what a genesis is made from: %w", err)
	}
	var validators []map[string]string
	for _, raw := range from.Gentxs {
		var tx gentx
		if err := json.Unmarshal(raw, &tx); err != nil {
			return nil, fmt.Errorf("reading a gentx: %w", err)
		}
		validators = append(validators, map[string]string{"address": keyOf(tx.Validator)})
	}
	genesis, err := json.Marshal(map[string]any{"from": from, "validators": validators})
	if err != nil {
		return nil, fmt.Errorf("encoding a genesis: %w", err)
	}
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	_, err = zipped.Write(genesis)
	if err := errors.Join(err, zipped.Close()); err != nil {
		return nil, fmt.Errorf("packing a genesis: %w", err)
	}
	sum := sha256.Sum256(genesis)
	return &sidecarwire.AssembledGenesis{Genesis: base64.StdEncoding.EncodeToString(packed.Bytes()), GenesisHash: hex.EncodeToString(sum[:])}, nil
}
