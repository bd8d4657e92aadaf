package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/sei-operator/sei-operator/test/chaos"
)

// lookEvery is how exactly the beginning and the end of a process are known.
const lookEvery = 500 * time.Millisecond

// chaosWatch writes down what happens to the nodes of a scenario. Processes and signing states are read from the machine,
// so that it sees them while there is no API server.
type chaosWatch struct {
	*scenario
	first int

	mu sync.Mutex
	// nodeOf names the SeiNode of a volume.
	nodeOf map[string]string
	// runs and ready are closed and open runs, by process and by pod. Those that continue end with the last look.
	runs, ready map[string]*watchedRun
	signed      map[string]chaos.Signed
	reads       int
	signedTwice []string
}

type watchedRun struct {
	volume, node, pod string
	from, to          time.Time
	open              bool
}

// watchChaos looks until the test's context ends.
func (s *scenario) watchChaos(ctx context.Context) *chaosWatch {
	s.t.Helper()
	first, err := s.firstProcess()
	if err != nil {
		s.t.Fatal(err)
	}
	w := &chaosWatch{
		scenario: s, first: first, nodeOf: map[string]string{}, runs: map[string]*watchedRun{}, ready: map[string]*watchedRun{},
		signed: map[string]chaos.Signed{},
	}
	w.inform(ctx, "persistentvolumeclaims", &corev1.PersistentVolumeClaim{}, cache.ResourceEventHandlerFuncs{
		AddFunc: w.seeClaim, UpdateFunc: func(_, now any) { w.seeClaim(now) },
	})
	w.inform(ctx, "pods", &corev1.Pod{}, cache.ResourceEventHandlerFuncs{
		AddFunc: w.seePod, UpdateFunc: func(_, now any) { w.seePod(now) }, DeleteFunc: w.losePod,
	})
	go func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			w.look()
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}()
	return w
}

func (w *chaosWatch) inform(ctx context.Context, resource string, kind runtime.Object, handler cache.ResourceEventHandler) {
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(w.clients.CoreV1().RESTClient(), resource, w.namespace, fields.Everything()),
		ObjectType:    kind, Handler: handler,
	})
	go informer.RunWithContext(ctx)
}

func (w *chaosWatch) seeClaim(obj any) {
	claim, ok := obj.(*corev1.PersistentVolumeClaim)
	if !ok || claim.Spec.VolumeName == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodeOf[claim.Spec.VolumeName] = strings.TrimPrefix(claim.Name, "data-")
}

// seePod takes note of when the pod was ready, by the kubelet's own time.
func (w *chaosWatch) seePod(obj any) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodReady {
			continue
		}
		key := fmt.Sprintf("%s %s", pod.UID, c.LastTransitionTime.UTC().Format(time.RFC3339))
		if c.Status == corev1.ConditionTrue {
			if w.ready[key] == nil {
				w.ready[key] = &watchedRun{node: strings.TrimSuffix(pod.Name, "-0"), pod: string(pod.UID), from: c.LastTransitionTime.Time, open: true}
			}
			return
		}
		w.endReady(string(pod.UID), c.LastTransitionTime.Time)
	}
}

func (w *chaosWatch) losePod(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if pod, ok := obj.(*corev1.Pod); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.endReady(string(pod.UID), time.Now())
	}
}

func (w *chaosWatch) endReady(pod string, at time.Time) {
	for _, r := range w.ready {
		if r.pod == pod && r.open {
			r.to, r.open = at, false
		}
	}
}

// look finds the processes of seid and what they have signed last.
func (w *chaosWatch) look() {
	now := time.Now()
	found := map[string]*watchedRun{}
	for _, p := range descendants(w.first) {
		if p.isSeid() {
			found[fmt.Sprintf("%d %s", p.pid, p.started)] = &watchedRun{volume: p.volume(), pod: p.pod(), from: now, open: true}
		}
	}
	w.mu.Lock()
	for key, r := range found {
		if w.runs[key] == nil && r.volume != "" {
			w.runs[key] = r
		}
	}
	for key, r := range w.runs {
		if r.open = r.open && found[key] != nil; r.open {
			r.to = now
		}
	}
	w.mu.Unlock()
	w.readSigned()
}

// readSigned compares what each validator has signed last with the look before.
func (w *chaosWatch) readSigned() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for volume, node := range w.nodeOf {
		if !strings.HasPrefix(node, "v-") {
			continue
		}
		file, err := os.ReadFile(filepath.Join(w.state, "volumes", volume, "data", "priv_validator_state.json"))
		if err != nil {
			continue // it is being replaced, or not there yet
		}
		signed, err := chaos.ReadSigned(file)
		if err != nil {
			continue // half written
		}
		w.reads++
		if wrong := signed.After(w.signed[node]); wrong != "" {
			w.signedTwice = append(w.signedTwice, node+": "+wrong)
		}
		w.signed[node] = signed
	}
}

// seen are the runs of processes, and the times for which pods were ready.
func (w *chaosWatch) seen() (runs, ready []chaos.Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		runs = append(runs, chaos.Run{Node: w.nodeOf[r.volume], Pod: r.pod, From: r.from, To: r.to})
	}
	for _, r := range w.ready {
		to := r.to
		if r.open {
			to = time.Now()
		}
		ready = append(ready, chaos.Run{Node: r.node, Pod: r.pod, From: r.from, To: to})
	}
	return runs, ready
}

// processesByNode are processes of a kind, at most one of each node.
func (w *chaosWatch) processesByNode(is func(clusterProcess) bool) map[string]clusterProcess {
	all := descendants(w.first)
	w.mu.Lock()
	defer w.mu.Unlock()
	found := map[string]clusterProcess{}
	for _, p := range all {
		if is(p) {
			if node := w.nodeOf[p.volume()]; node != "" {
				found[node] = p
			}
		}
	}
	return found
}
