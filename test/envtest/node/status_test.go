package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// patches counts the status patches of one object.
func (w nodes) patches(name string, result statuspatch.Result) float64 {
	w.T.Helper()
	return w.Patches(metrics.NameNodeStatusPatches, name, result)
}

// forceReconciles makes the operator look at a node n times, one after the other, by
// an annotation that means nothing, and returns when the last look is over.
func (w nodes) forceReconciles(name string, n int) {
	w.T.Helper()
	for range n {
		w.ForceReconcile(metrics.NameNodeStatusPatches, name, &v1alpha1.SeiNode{})
	}
}

// A4: a settled node is silent: 50 forced reconciles cause no API write.
func TestA4_SettledNode_FiftyReconcilesCauseNoWrite(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.forceReconciles("n", 1) // a write is counted a moment after it can be seen
	changed, mark := w.patches("n", statuspatch.Changed), w.Recorder.Mark()
	w.forceReconciles("n", 50)
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes of a settled node")
	w.Recorder.Since(mark).Reads().In(w.NS).RequireNone(t, "reads of a settled node")
	if got := w.patches("n", statuspatch.Changed); got != changed || changed == 0 {
		t.Errorf("changed patches went from %v to %v", changed, got)
	}
}

// A2: changed patches rise during an update and stay the same after it.
func TestA2_ImageChange_ChangedPatchesRiseAndStandStill(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	before := w.patches("n", statuspatch.Changed)
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("n", settled)
	w.forceReconciles("n", 1) // a write is counted a moment after it can be seen
	after := w.patches("n", statuspatch.Changed)
	if after <= before {
		t.Errorf("%v changed patches before and %v after an update", before, after)
	}
	w.forceReconciles("n", 5)
	if still := w.patches("n", statuspatch.Changed); still != after {
		t.Errorf("changed patches went on from %v to %v at rest", after, still)
	}
}

// A3: the series of a node vanish with it.
func TestA3_DeletedNode_LeavesNoSeries(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.Delete(w.node("n"))
	envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "n")
	w.Eventually("the series to go", func() bool {
		text, err := testutil.GatherAndFormat(ctrlmetrics.Registry, expfmt.TypeTextPlain)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, `namespace="`+w.NS+`"`) && strings.Contains(line, `name="n"`) {
				return false
			}
		}
		return true
	})
}

// A6: of two reconciles that race to create a plan exactly one wins, because the write
// is locked to what it read. The same race with a blind server-side apply is lost: that
// is what this test would look like without the lock.
func TestA6_TwoReconcilesAtOnce_OnePlanIsCreated(t *testing.T) {
	race := func(t *testing.T, write func(ctx context.Context, w nodes, read *v1alpha1.SeiNode, p *v1alpha1.TaskPlan) error) (won int) {
		t.Helper()
		w := newWorld(t)
		w.Create(fullNode("n"))
		read := w.node("n")
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				mine := read.DeepCopy()
				p := plan.New(plan.Spec{Reason: "NewNode", Tasks: []string{"ensure-data-pvc"}}, time.Now())
				err := write(t.Context(), w, mine, p)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won++
				}
			})
		}
		wg.Wait()
		return won
	}

	t.Run("our writer", func(t *testing.T) {
		writer := statuspatch.NewWriter(nil)
		won := race(t, func(ctx context.Context, w nodes, read *v1alpha1.SeiNode, p *v1alpha1.TaskPlan) error {
			snapshot := writer.New(read)
			read.Status.Plan = p
			result, err := snapshot.Patch(ctx, w.Client, read)
			if err != nil && result != statuspatch.Conflict {
				t.Errorf("unexpected result %s: %v", result, err)
			}
			return err
		})
		if won != 1 {
			t.Errorf("%d of 2 racing reconciles created a plan", won)
		}
	})

	t.Run("negative control: a blind writer lets both win", func(t *testing.T) {
		won := race(t, blindApply)
		if won != 2 {
			t.Errorf("the blind writer was refused %d times: this test no longer shows what the lock is for", 2-won)
		}
	})
}

// blindApply is what we do not do: apply one's own status without a lock.
func blindApply(ctx context.Context, w nodes, read *v1alpha1.SeiNode, p *v1alpha1.TaskPlan) error {
	obj := &v1alpha1.SeiNode{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindSeiNode},
		ObjectMeta: metav1.ObjectMeta{Namespace: read.Namespace, Name: read.Name},
		Status:     v1alpha1.SeiNodeStatus{Plan: p},
	}
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return err
	}
	delete(raw, "spec")
	body, err := json.Marshal(raw)
	if err != nil {
		return err
	}
	return w.Client.Status().Patch(ctx, obj, client.RawPatch("application/apply-patch+yaml", body),
		&client.SubResourcePatchOptions{PatchOptions: client.PatchOptions{FieldManager: "blind", Force: new(true)}})
}

// A6 in the running operator: two operators at once on one node submit nothing twice.
func TestA6_TwoOperatorsAtOnce_NothingIsDoneTwice(t *testing.T) {
	w := newOperatedWorld(t)
	first := w.Stop
	w.StartOperator()
	defer first()
	w.bringUp(fullNode("n"))
	ids := map[string]map[string]bool{}
	for _, r := range w.Sidecars.Requests(w.Key("n")) {
		if r.Task == "" || r.Status != http.StatusCreated {
			continue
		}
		if ids[string(r.Type)] == nil {
			ids[string(r.Type)] = map[string]bool{}
		}
		ids[string(r.Type)][r.Task] = true
	}
	for taskType, used := range ids {
		if len(used) != 1 {
			t.Errorf("%s ran under %d ids", taskType, len(used))
		}
	}
}

// A1: the counter is on the manager's own /metrics.
func TestA1_StatusPatches_AreOnTheManagersMetricsPage(t *testing.T) {
	w := newWorld(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.MetricsAddress = listener.Addr().String()
	_ = listener.Close()
	w.StartOperator()
	w.bringUp(fullNode("n"))
	resp, err := http.Get("http://" + w.MetricsAddress + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`%s{name="n",namespace=%q,result="changed"}`, metrics.NameNodeStatusPatches, w.NS)
	if !strings.Contains(string(page), want) {
		t.Errorf("%s is not on the page", want)
	}
}
