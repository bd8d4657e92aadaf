package task

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task/sidecartask"
)

func TestRestartSeidParams_OnlyReadyNodesWithClientsDrain(t *testing.T) {
	full := v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{}}
	for name, c := range map[string]struct {
		spec    v1alpha1.SeiNodeSpec
		unready bool
		level   int
		want    string
	}{
		"full node":                    {spec: full, level: 3, want: `{"farewell":"20s"}`},
		"archive":                      {spec: v1alpha1.SeiNodeSpec{Archive: &v1alpha1.ArchiveSpec{}}, level: 4, want: `{"farewell":"20s"}`},
		"full node that is not ready":  {spec: full, level: 4, unready: true},
		"validator":                    {spec: v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{}}, level: 4},
		"seed":                         {spec: v1alpha1.SeiNodeSpec{Seed: &v1alpha1.SeedSpec{}}, level: 4},
		"sidecar of an older operator": {spec: full, level: 2},
	} {
		pod := &corev1.Pod{}
		if !c.unready {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		env := &Env{Node: &v1alpha1.SeiNode{Spec: c.spec}, Document: &api.Node{APILevel: c.level}, Observed: &Objects{Pod: pod}}
		raw, err := sidecartask.Encode(paramsFunc(restartSeidParams).of(t.Context(), env, &v1alpha1.PlannedTask{}))
		if string(raw) != c.want || err != nil {
			t.Errorf("%s: parameters %s, %v, want %s", name, raw, err, c.want)
		}
	}
}

// seeing is a sidecar that shows a document and counts what is asked of it.
type seeing struct {
	sidecar.Sidecar
	document  api.Node
	submitted int
}

func (s *seeing) Node(context.Context) (api.Node, error) { return s.document, nil }

func (s *seeing) Get(_ context.Context, id string, _ time.Duration) (api.TaskResult, error) {
	if s.submitted == 0 {
		return api.TaskResult{}, &sidecar.Error{Status: 404}
	}
	return api.TaskResult{ID: id, Status: api.TaskRunning}, nil
}

func (s *seeing) Submit(_ context.Context, task api.TaskRequest) (string, error) {
	s.submitted++
	return task.ID, nil
}

// A process that waits behind its gate cannot be restarted: waiting for it would never end (N4, N5).
func TestRestartSeid_OnlyAProcessThatRunsWithOlderKeysIsRestarted(t *testing.T) {
	for name, c := range map[string]struct {
		seid api.Seid
		want int
	}{
		"runs with an older key":           {api.Seid{State: api.SeidRunning, RestartDue: []string{"config.toml:mempool.size"}}, 1},
		"runs with what is on disk":        {api.Seid{State: api.SeidRunning}, 0},
		"waits behind the gate":            {api.Seid{State: api.SeidWaiting, RestartDue: []string{"config.toml:mempool.size"}}, 0},
		"has ended and is being restarted": {api.Seid{State: api.SeidExited}, 0},
	} {
		s := &seeing{document: api.Node{APILevel: api.LevelNode, Seid: c.seid}}
		env := &Env{
			Node: &v1alpha1.SeiNode{}, Sidecar: s, Document: &s.document, Observed: &Objects{Pod: &corev1.Pod{}},
			Clock: clocktesting.NewFakePassiveClock(time.Now()),
		}
		o := restartSeid(t.Context(), env, &v1alpha1.PlannedTask{ID: "1"})
		if s.submitted != c.want || o.IsDone() != (c.want == 0) {
			t.Errorf("%s: %d restarts, outcome %+v; want %d", name, s.submitted, o, c.want)
		}
	}
}
