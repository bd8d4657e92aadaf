package nodetask

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/task"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// wanted is what a test expects of an outcome. words are in its message or its error.
type wanted struct {
	verdict, reason, words string
}

func (w wanted) check(t *testing.T, o plan.Outcome) {
	t.Helper()
	words := o.Message
	if o.Err != nil {
		words += o.Err.Error()
	}
	if o.String() != w.verdict || o.Reason != w.reason || !strings.Contains(words, w.words) {
		t.Errorf("the outcome is %s, %q, %q; want %s, %q, %q", o, o.Reason, words, w.verdict, w.reason, w.words)
	}
}

// failed is a task that failed just now. For a transaction, inclusion is its inclusion status.
func failed(code string, final bool, inclusion string) api.TaskResult {
	result := api.TaskResult{Status: api.TaskFailed, Run: 1, CompletedAt: &noon, Error: "seid said no", ErrorDetail: &api.ErrorDetail{Code: code, Terminal: final}}
	if inclusion != "" {
		result.Result = json.RawMessage(`{"txHash":"AB","inclusionStatus":"` + inclusion + `"}`)
	}
	return result
}

func TestJudge_WhatASidecarKnows_IsTheOutcome(t *testing.T) {
	completed := api.TaskResult{Status: api.TaskCompleted, Result: json.RawMessage(`{"txHash":"AB","height":7}`)}
	for name, c := range map[string]struct {
		result api.TaskResult
		edited bool
		want   wanted
	}{
		"under way":                      {api.TaskResult{Status: api.TaskRunning}, false, wanted{"wait", task.ReasonSidecarWorking, "working"}},
		"completed":                      {completed, false, wanted{"done", "", "transaction AB is in block 7"}},
		"completed with other words":     {completed, true, wanted{"terminal", v1alpha1.ReasonSuperseded, "other parameters"}},
		"a result nobody can read":       {api.TaskResult{Status: api.TaskCompleted, Result: json.RawMessage(`{`)}, false, wanted{"terminal", v1alpha1.ReasonTaskFailed, "reading the result"}},
		"failed in passing":              {failed(api.CodeUnavailable, false, ""), false, wanted{"wait", ReasonRetried, "seid said no"}},
		"failed for good":                {failed(api.CodeInvalidParams, true, ""), false, wanted{"terminal", v1alpha1.ReasonTaskFailed, "seid said no"}},
		"failed for good, edited":        {failed(api.CodeInvalidParams, true, ""), true, wanted{"wait", ReasonRetried, "seid said no"}},
		"refused by the chain":           {failed(api.CodeTransactionFailed, true, wire.InclusionFailed), false, wanted{"terminal", v1alpha1.ReasonTxFailed, "seid said no"}},
		"nobody knows if it is in":       {failed(api.CodeTransactionFailed, true, wire.InclusionUnverifiable), false, wanted{"terminal", v1alpha1.ReasonInclusionUndetermined, "seid said no"}},
		"another one came first":         {failed(api.CodeConflict, true, wire.InclusionCommitted), false, wanted{"terminal", v1alpha1.ReasonSuperseded, "seid said no"}},
		"another one may come first":     {failed(api.CodeConflict, true, wire.InclusionPending), false, wanted{"wait", ReasonRetried, "seid said no"}},
		"a conflict with no transaction": {failed(api.CodeConflict, true, ""), false, wanted{"terminal", v1alpha1.ReasonTaskFailed, "seid said no"}},
	} {
		t.Run(name, func(t *testing.T) {
			env := &Env{Task: &v1alpha1.SeiNodeTask{Spec: v1alpha1.SeiNodeTaskSpec{GovVote: &v1alpha1.GovVote{}}}, Clock: clocktesting.NewFakePassiveClock(noon)}
			done := transactionDone
			if c.result.Result == nil {
				done = noMessage
			}
			c.want.check(t, judge(env, &v1alpha1.PlannedTask{Type: "gov-vote"}, c.result, done, c.edited))
		})
	}
}

func TestSameParams_ComparesMeaning_NotSpelling(t *testing.T) {
	own := func() (any, error) { return map[string]any{"a": 1, "b": "x"}, nil }
	for given, want := range map[string]bool{
		`{"b":"x", "a":1}`:       true,
		`{"a":2,"b":"x"}`:        false,
		`{"a":1,"b":"x","c":""}`: false,
		`{`:                      false,
	} {
		if got := sameParams(json.RawMessage(given), own); got != want {
			t.Errorf("%s is the same: %t, want %t", given, got, want)
		}
	}
}

func TestNoAnswer_SaysWhyThereIsNobodyToAsk(t *testing.T) {
	unreachable := []metav1.Condition{{Type: v1alpha1.ConditionSidecarReady, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonSidecarUnreachable}}
	for name, c := range map[string]struct {
		node    v1alpha1.SeiNode
		sidecar *gated
		want    wanted
		silent  bool
	}{
		"paused":      {v1alpha1.SeiNode{Spec: v1alpha1.SeiNodeSpec{Paused: true}}, &gated{}, wanted{"wait", v1alpha1.ReasonPaused, "unset its spec.paused"}, true},
		"unreachable": {v1alpha1.SeiNode{Status: v1alpha1.SeiNodeStatus{Conditions: unreachable}}, &gated{}, wanted{"wait", task.ReasonSidecarUnreachable, "does not answer"}, true},
		"there":       {v1alpha1.SeiNode{}, &gated{}, wanted{"done", "", ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o, silent := noAnswer(&Env{Node: &c.node, Sidecar: c.sidecar})
			if silent != c.silent {
				t.Errorf("silent is %t, want %t", silent, c.silent)
			}
			c.want.check(t, o)
		})
	}
}
