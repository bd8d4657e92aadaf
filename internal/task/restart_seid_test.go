package task

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/planner"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// versioned is a sidecar that tells its version, or why it does not.
type versioned struct {
	sidecar.Sidecar
	level int
	err   error
}

func (v versioned) Version(context.Context) (api.Version, error) {
	return api.Version{APILevel: v.level}, v.err
}

func TestRestartSeidParams_OnlyNodesWithClientsSayFarewell(t *testing.T) {
	lost := fmt.Errorf("asking: %w", sidecar.ErrUnreachable)
	for name, c := range map[string]struct {
		spec    v1alpha1.SeiNodeSpec
		unready bool
		sidecar versioned
		want    string
		err     error
	}{
		"full node":                    {spec: v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{}}, sidecar: versioned{level: 3}, want: `{"farewell":"20s"}`},
		"archive":                      {spec: v1alpha1.SeiNodeSpec{Archive: &v1alpha1.ArchiveSpec{}}, sidecar: versioned{level: 4}, want: `{"farewell":"20s"}`},
		"full node that is not ready":  {spec: v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{}}, unready: true, sidecar: versioned{err: lost}},
		"validator":                    {spec: v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{}}, sidecar: versioned{err: lost}},
		"seed":                         {spec: v1alpha1.SeiNodeSpec{Seed: &v1alpha1.SeedSpec{}}, sidecar: versioned{err: lost}},
		"sidecar of an older operator": {spec: v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{}}, sidecar: versioned{level: 2}},
		"sidecar without a version":    {spec: v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{}}, sidecar: versioned{err: &sidecar.Error{Status: 404}}},
		"sidecar that does not answer": {spec: v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{}}, sidecar: versioned{err: lost}, err: sidecar.ErrUnreachable},
	} {
		pod := &corev1.Pod{}
		if !c.unready {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		env := &Env{Node: &v1alpha1.SeiNode{Spec: c.spec}, Sidecar: c.sidecar, Observed: &planner.Observation{Pod: pod}}
		raw, err := encodeParams(t.Context(), env, &v1alpha1.PlannedTask{}, restartSeidParams)
		if string(raw) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: parameters %s, %v, want %s", name, raw, err, c.want)
		}
	}
}
