package tracing_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/tracing"
)

// receiver takes spans as an OpenTelemetry collector does.
type receiver struct {
	mu       sync.Mutex
	spans    []*tracev1.Span
	service  string
	problems []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	message := &collector.ExportTraceServiceRequest{}
	if err == nil {
		err = proto.Unmarshal(body, message)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || req.URL.Path != "/v1/traces" {
		r.problems = append(r.problems, req.URL.Path+": "+http.StatusText(http.StatusBadRequest))
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, resource := range message.GetResourceSpans() {
		for _, a := range resource.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				r.service = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
}

// describe says what a span is about, below which other it is.
func (r *receiver) describe() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]string{}
	for _, s := range r.spans {
		names[string(s.GetSpanId())] = s.GetName()
	}
	found := append([]string{}, r.problems...)
	for _, s := range r.spans {
		text := s.GetName()
		if parent := names[string(s.GetParentSpanId())]; parent != "" {
			text = parent + " > " + text
		}
		for _, a := range s.GetAttributes() {
			if k := a.GetKey(); k == "sei.name" || k == "sei.plan.reason" || k == "sei.task.outcome" || k == "sei.plan.outcome" {
				text += " " + strings.TrimPrefix(k, "sei.") + "=" + a.GetValue().GetStringValue()
			}
		}
		if m := s.GetStatus().GetMessage(); m != "" {
			text += " error=" + m
		}
		if strings.HasPrefix(text, "plan ") {
			text += " took " + time.Duration(s.GetEndTimeUnixNano()-s.GetStartTimeUnixNano()).String()
		}
		found = append(found, text)
	}
	slices.Sort(found)
	return found
}

// reconcileOnce runs a plan of two tasks, the second of which fails, as a controller does.
func reconcileOnce(t *testing.T, tracer *tracing.Tracer) {
	t.Helper()
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	p := plan.New(plan.Spec{Reason: "ImageChanged", Tasks: []string{"a", "b"}}, clock.Now())
	executor := &plan.Executor[struct{}]{Clock: clock, Observer: tracer.Observer(), Tasks: plan.Registry[struct{}]{
		"a": {Run: func(context.Context, struct{}, *v1alpha1.PlannedTask) plan.Outcome {
			clock.Step(2 * time.Second)
			return plan.Done("")
		}},
		"b": {Run: func(context.Context, struct{}, *v1alpha1.PlannedTask) plan.Outcome {
			clock.Step(3 * time.Second)
			return plan.Terminal("Broken", errors.New("it is broken"))
		}},
	}}
	r := tracer.Reconciler("SeiNode", reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		executor.Advance(ctx, p, struct{}{})
		return reconcile.Result{}, errors.New("no luck")
	}))
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "sei", Name: "rpc-0"}}); err == nil {
		t.Error("the reconciler's error was swallowed")
	}
	if p.Phase != v1alpha1.PlanFailed {
		t.Errorf("the plan is %s", p.Phase)
	}
}

func TestStart_EndpointInTheEnvironment_ExportsReconcilesTasksAndPlans(t *testing.T) {
	got := &receiver{}
	server := httptest.NewServer(got)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_SERVICE_NAME", "our-operator")
	tracer, stop, err := tracing.Start(t.Context(), os.Getenv, logr.Discard(), "v1")
	if err != nil {
		t.Fatal(err)
	}
	reconcileOnce(t, tracer)
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"plan ImageChanged > task a took 2s",
		"plan ImageChanged > task b error=it is broken took 3s",
		"plan ImageChanged plan.reason=ImageChanged name=rpc-0 plan.outcome=Failed error=b: it is broken took 5s",
		"reconcile SeiNode > task a plan.reason=ImageChanged task.outcome=done",
		"reconcile SeiNode > task b plan.reason=ImageChanged task.outcome=terminal error=it is broken",
		"reconcile SeiNode name=rpc-0 plan.reason=ImageChanged error=no luck",
	}
	if diff := cmp.Diff(want, got.describe()); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if got.service != "our-operator" {
		t.Errorf("service.name = %q; the environment is not heard", got.service)
	}
}

func TestStart_NoReceiverWanted_WrapsNothing(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"nothing set":      {},
		"exporter is none": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
		"disabled":         {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
	} {
		t.Run(name, func(t *testing.T) {
			tracer, stop, err := tracing.Start(t.Context(), func(k string) string { return env[k] }, logr.Discard(), "v1")
			if err != nil || tracer != nil {
				t.Fatalf("tracer %v, err %v", tracer, err)
			}
			inner := &sameReconciler{}
			if tracer.Reconciler("SeiNode", inner) != reconcile.Reconciler(inner) || tracer.Observer() != nil {
				t.Error("something is wrapped although nobody listens")
			}
			reconcileOnce(t, tracer)
			if err := stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

type sameReconciler struct{ reconcile.Reconciler }

func TestStart_UnknownProtocol_IsNamed(t *testing.T) {
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}
	_, _, err := tracing.Start(t.Context(), func(k string) string { return env[k] }, logr.Discard(), "v1")
	if err == nil || !strings.Contains(err.Error(), `OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" is neither`) {
		t.Errorf("err = %v", err)
	}
}
