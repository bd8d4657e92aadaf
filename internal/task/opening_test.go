package task

import (
	"encoding/json"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/render/rendertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// S1: the gate of a node that signs is opened for its own key and never in advance.
func TestOpening_NamesTheConfigurationAndTheKey(t *testing.T) {
	signer := &v1alpha1.SeiNode{}
	signer.Spec.Validator = &v1alpha1.ValidatorSpec{SigningKey: &v1alpha1.SigningKeySource{}}
	full := rendertest.FullNode()
	for name, c := range map[string]struct {
		node       *v1alpha1.SeiNode
		permission time.Duration
		want       wire.MarkReady
	}{
		"a validator":                     {signer, time.Hour, wire.MarkReady{Expect: &wire.Expectation{ConfigHash: "c", ConsensusAddress: "A"}}},
		"a full node":                     {full, time.Hour, wire.MarkReady{Expect: &wire.Expectation{ConfigHash: "c"}, Permission: "1h0m0s"}},
		"a full node without permissions": {full, 0, wire.MarkReady{Expect: &wire.Expectation{ConfigHash: "c"}}},
	} {
		got := Opening(c.node, "c", "A", c.permission)
		if *got.Expect != *c.want.Expect || got.Permission != c.want.Permission {
			t.Errorf("%s: %+v with %+v, want %+v with %+v", name, got, *got.Expect, c.want, *c.want.Expect)
		}
	}
}

// The gate is opened for what the plan itself has written, or else for what is on disk, and not for
// what the spec asks for by now.
func TestMarkReadyParams_ExpectWhatThePlanHasWritten(t *testing.T) {
	wrote := func(status v1alpha1.TaskStatus) *v1alpha1.TaskPlan {
		raw, err := json.Marshal(domain.ConfigParams{ConfigHash: "written"})
		if err != nil {
			t.Fatal(err)
		}
		return &v1alpha1.TaskPlan{Tasks: []v1alpha1.PlannedTask{{Type: domain.StepConfigApply, Status: status, Params: &apiextensionsv1.JSON{Raw: raw}}}}
	}
	for name, c := range map[string]struct {
		plan *v1alpha1.TaskPlan
		want string
	}{
		"written by the plan":  {wrote(v1alpha1.TaskComplete), "written"},
		"not written yet":      {wrote(v1alpha1.TaskRunning), "on disk"},
		"the plan writes none": {&v1alpha1.TaskPlan{}, "on disk"},
	} {
		in := rendertest.Input(rendertest.FullNode())
		in.Node.Status.Plan = c.plan
		env := &Env{Node: in.Node, Render: in, Config: render.NodeConfig(in, nil), Facts: &Facts{}, Document: &api.Node{APILevel: api.LevelNode}}
		env.Document.Home.ConfigHash = "on disk"
		params, err := markReadyParams(t.Context(), env, nil)
		if err != nil {
			t.Fatal(err)
		}
		if opening, ok := params.(wire.MarkReady); !ok || opening.Expect == nil || opening.Expect.ConfigHash != c.want {
			t.Errorf("%s: %+v, want %s", name, params, c.want)
		}
	}
}
