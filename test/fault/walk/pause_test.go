package walk

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// quiet is for how long an operator at rest has written nothing, and hasty after which time a walk
// continues in any case: a plan that waits for something never ends.
const (
	quiet = 300 * time.Millisecond
	hasty = 6 * time.Second
)

// come waits as an event says.
func (w *walk) come(to pause) {
	w.T.Helper()
	if w.away || to == now {
		return
	}
	mark, began := w.Recorder.Mark(), time.Now()
	writes := func() int { return len(w.Recorder.Since(mark).Writes().In(w.NS).Without("events")) }
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	if to == moment {
		for writes() == 0 && time.Since(began) < quiet {
			<-tick.C
		}
		return
	}
	last, since := 0, time.Now()
	for time.Since(since) < quiet && time.Since(began) < hasty {
		<-tick.C
		if n := writes(); n != last || w.busy() {
			last, since = n, time.Now()
		}
	}
}

// busy reports whether a pod is on its way or a plan is being run.
func (w *walk) busy() bool {
	nodes, pods := &v1alpha1.SeiNodeList{}, &corev1.PodList{}
	w.list(nodes)
	w.list(pods)
	for i := range nodes.Items {
		if n := &nodes.Items[i]; n.DeletionTimestamp != nil || n.Status.ObservedGeneration != n.Generation || n.Status.Plan != nil {
			return true
		}
	}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp != nil || pods.Items[i].Status.Phase == corev1.PodPending {
			return true
		}
	}
	return false
}

// stall is how long nothing may change before a wait is given up: longer than every pause that the
// operator makes before it tries something again, apart from steps that failed on what is still wanted.
const stall = 50 * time.Second

// becomes waits until a check finds nothing wrong. It gives up when nothing changes any more.
func (w *walk) becomes(check string, wrong func() string) {
	w.T.Helper()
	w.counted(check)
	mark, began := w.Recorder.Mark(), time.Now()
	last, writes, since := "", 0, time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		found := wrong()
		if found == "" || w.failed() {
			return
		}
		if n := len(w.Recorder.Since(mark).Writes().In(w.NS)); n != writes || found != last {
			last, writes, since = found, n, time.Now()
		}
		if time.Since(since) > min(stall, envtest.WaitTimeout) || time.Since(began) > envtest.WaitTimeout {
			w.failf(check, "%s", found)
			return
		}
	}
}
