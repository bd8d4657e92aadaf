package nodetask

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestConditionMet_SaysWhatWasSeen(t *testing.T) {
	met := api.TaskResult{Status: api.TaskCompleted, Result: json.RawMessage(`{"height":42}`)}
	for name, c := range map[string]struct {
		spec    v1alpha1.SeiNodeTaskSpec
		result  api.TaskResult
		words   string
		outputs *v1alpha1.TaskOutputs
	}{
		"height of several": {
			v1alpha1.SeiNodeTaskSpec{AwaitNodesAtHeight: &v1alpha1.AwaitNodesAtHeight{}}, met, "the node has reached height 42",
			&v1alpha1.TaskOutputs{AwaitNodesAtHeight: &v1alpha1.AwaitNodesAtHeightOutputs{CurrentHeight: 42}},
		},
		"height": {
			v1alpha1.SeiNodeTaskSpec{AwaitCondition: &v1alpha1.AwaitCondition{Height: &v1alpha1.HeightCondition{}}}, met, "the node has reached height 42",
			&v1alpha1.TaskOutputs{AwaitCondition: &v1alpha1.AwaitConditionOutputs{ObservedValue: "42"}},
		},
		"caught up": {
			v1alpha1.SeiNodeTaskSpec{AwaitCondition: &v1alpha1.AwaitCondition{}}, met, "the node has caught up at height 42",
			&v1alpha1.TaskOutputs{AwaitCondition: &v1alpha1.AwaitConditionOutputs{ObservedValue: "false"}},
		},
		"failed": {v1alpha1.SeiNodeTaskSpec{AwaitCondition: &v1alpha1.AwaitCondition{}}, api.TaskResult{Status: api.TaskFailed}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			env := &Env{Task: &v1alpha1.SeiNodeTask{Spec: c.spec}}
			words, err := conditionMet(env, c.result)
			if err != nil || words != c.words {
				t.Errorf("the words are %q, %v; want %q", words, err, c.words)
			}
			if diff := cmp.Diff(c.outputs, env.Outputs); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAwaitSync_WaitsInTheWordsOfTheNode(t *testing.T) {
	for name, c := range map[string]struct {
		sync    api.Sync
		want    wanted
		outputs *v1alpha1.TaskOutputs
	}{
		"no peers":   {api.Sync{State: api.SyncNoPeers}, wanted{"wait", v1alpha1.ReasonNotInSync, "the node is not in sync yet (" + string(api.SyncNoPeers) + ")"}, nil},
		"with words": {api.Sync{State: api.SyncStarting, Message: "reading snapshots"}, wanted{"wait", v1alpha1.ReasonNotInSync, ": reading snapshots"}, nil},
		"in sync": {
			api.Sync{State: api.SyncInSync, Height: 9}, wanted{"done", "", "in sync at height 9"},
			&v1alpha1.TaskOutputs{StateSync: &v1alpha1.StateSyncOutputs{Height: 9}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := &Env{
				Node: &v1alpha1.SeiNode{}, Sidecar: &gated{document: api.Node{Sync: c.sync}},
				Task: &v1alpha1.SeiNodeTask{Spec: v1alpha1.SeiNodeTaskSpec{StateSync: &v1alpha1.StateSyncTask{}}},
			}
			c.want.check(t, awaitSync(t.Context(), env, nil))
			if diff := cmp.Diff(c.outputs, env.Outputs); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
		})
	}
}

// A node is done with its image when its status is about this spec and it is ready, which it is only with
// a pod that is made from the spec. The pod's own image is not compared: webhooks rewrite it.
func TestAwaitImage_NeedsSpecAndStatus(t *testing.T) {
	ready := func(status metav1.ConditionStatus, generation int64) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: status, Reason: v1alpha1.ReasonNoPeers, Message: "no peers", ObservedGeneration: generation}}
	}
	for name, c := range map[string]struct {
		image  string
		status v1alpha1.SeiNodeStatus
		want   wanted
	}{
		"changed by somebody": {"seid:c", v1alpha1.SeiNodeStatus{}, wanted{"terminal", v1alpha1.ReasonSuperseded, "to seid:c"}},
		"no status":           {"seid:b", v1alpha1.SeiNodeStatus{}, wanted{"wait", v1alpha1.ReasonOutOfDate, "update to the image"}},
		"ready before the change": {
			"seid:b", v1alpha1.SeiNodeStatus{ObservedGeneration: 2, CurrentImage: "seid:b", Conditions: ready(metav1.ConditionTrue, 1)},
			wanted{"wait", v1alpha1.ReasonOutOfDate, "update to the image"},
		},
		"not ready": {
			"seid:b", v1alpha1.SeiNodeStatus{ObservedGeneration: 2, CurrentImage: "seid:b", Conditions: ready(metav1.ConditionFalse, 2)},
			wanted{"wait", v1alpha1.ReasonNoPeers, "to be ready: no peers"},
		},
		"all, and a webhook has written the image of the pod differently": {
			"seid:b", v1alpha1.SeiNodeStatus{ObservedGeneration: 2, CurrentImage: "mirror/seid@sha256:b", Conditions: ready(metav1.ConditionTrue, 2)},
			wanted{"done", "", "ready with image seid:b"},
		},
		"all": {
			"seid:b", v1alpha1.SeiNodeStatus{ObservedGeneration: 2, CurrentImage: "seid:b", Conditions: ready(metav1.ConditionTrue, 2)},
			wanted{"done", "", "ready with image seid:b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "n", Generation: 2}, Status: c.status}
			node.Spec.Image = c.image
			env := &Env{Node: node, Task: &v1alpha1.SeiNodeTask{}}
			env.Task.Spec.UpdateNodeImage = &v1alpha1.UpdateNodeImage{Image: "seid:b"}
			c.want.check(t, awaitImage(t.Context(), env, nil))
			if applied := env.Outputs != nil && env.Outputs.UpdateNodeImage.AppliedImage == "seid:b"; applied != (c.want.verdict == "done") {
				t.Errorf("the outputs are %+v, want the image only when all is there", env.Outputs)
			}
		})
	}
}

// A node whose reset may have begun is not released.
func TestMayLetGo_OnlyBeforeTheReset(t *testing.T) {
	submitted := seconds(noon)
	for name, c := range map[string]struct {
		tasks []v1alpha1.PlannedTask
		want  bool
	}{
		"no reset":                   {nil, true},
		"a reset that nobody got":    {[]v1alpha1.PlannedTask{{Type: operation.StepResetData, ID: "r"}}, true},
		"a reset that was forgotten": {[]v1alpha1.PlannedTask{{Type: operation.StepResetData, ID: "r", SubmittedAt: submitted}}, false},
	} {
		got, err := MayLetGo(t.Context(), &gated{}, &v1alpha1.TaskPlan{Tasks: c.tasks})
		if err != nil || got != c.want {
			t.Errorf("%s: %t, %v; want %t", name, got, err, c.want)
		}
	}
}
