package task

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// The Job is the only witness of a replay that took days: it goes after its end is in status, or an
// operator that is killed in between leaves nothing that reports it. (N23)
func TestTeardownBootstrap_BeforeItsEndIsStored_TheJobStays(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "n-bootstrap", UID: "job"}}
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	api := fake.NewClientBuilder().WithObjects(job).Build()
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "n"}}
	pass := func() (gone bool) {
		t.Helper()
		env := &Env{
			Client: api, Clock: clocktesting.NewFakePassiveClock(time.Now()), Node: node, Observed: &Objects{Job: job.DeepCopy()}, Facts: &Facts{},
		}
		if o := awaitBootstrap(t.Context(), env, nil); !o.IsDone() {
			t.Fatalf("outcome %+v, want it done", o)
		}
		if o := teardownBootstrap(t.Context(), env, nil); !o.IsWait() || o.After == 0 {
			t.Errorf("outcome %+v, want it waiting and After not 0", o)
		}
		return apierrors.IsNotFound(api.Get(t.Context(), client.ObjectKeyFromObject(job), &batchv1.Job{}))
	}
	if pass() {
		t.Error("the Job was deleted before its end was stored")
	}
	node.Status.Bootstrapped = true
	if !pass() {
		t.Error("the Job was not deleted")
	}
}
