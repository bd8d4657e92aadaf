package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/test/chaos"
	"github.com/sei-operator/sei-operator/test/elapse"
)

// chaosAct is an act of the alphabet with what it does.
type chaosAct struct {
	chaos.Act
	do disturbance
}

// disturbance says what it has done; undo is nil for what is over at once.
type disturbance func(*chaosRun, chaos.Step) (done chaos.Event, undo func() error, err error)

// components are the processes that the cluster's first process keeps alive.
var components = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "containerd"}

// oftenKilled is how often a container of one pod is killed. The kubelet waits longer before each further start, and what
// is tested is not the kubelet.
const oftenKilled = 2

// chaosAlphabet is all that can happen. seid is hit more often than the rest.
func chaosAlphabet() []chaosAct {
	acts := make([]chaosAct, 0, 32)
	for _, name := range components {
		kill := func(r *chaosRun, _ chaos.Step) (chaos.Event, func() error, error) {
			done := chaos.Event{Kind: chaos.Kill, Row: name, What: name + " killed"}
			return done, nil, r.signal(r.component(name), syscall.SIGKILL)
		}
		acts = append(acts, chaosAct{chaos.Act{Name: "kill " + name, Times: 1}, kill})
	}
	for _, name := range []string{"kube-apiserver", "kubelet", "operator"} {
		lasts := [2]time.Duration{4 * time.Second, 15 * time.Second}
		freeze := func(r *chaosRun, step chaos.Step) (chaos.Event, func() error, error) {
			return r.freeze(name, step.Lasts)
		}
		acts = append(acts, chaosAct{chaos.Act{Name: "freeze " + name, Times: 1, Lasts: lasts}, freeze})
	}
	acts = append(acts,
		chaosAct{chaos.Act{Name: "kill operator", Times: 2}, (*chaosRun).killOperator},
		chaosAct{chaos.Act{Name: "kill seid", Times: 3}, (*chaosRun).killSeid},
		chaosAct{chaos.Act{Name: "kill sidecar", Times: 2}, (*chaosRun).killSidecarOf},
		chaosAct{chaos.Act{Name: "delete pod", Times: 1}, (*chaosRun).losePod},
		chaosAct{chaos.Act{Name: "force-delete pod", Times: 1}, (*chaosRun).losePodAtOnce},
		chaosAct{chaos.Act{Name: "evict pod", Times: 1}, (*chaosRun).evictOne},
		chaosAct{chaos.Act{Name: "delete StatefulSet", Times: 1}, (*chaosRun).loseStatefulSet},
	)
	return append(acts, chaosEdits()...)
}

// component is the process of a component; the operator is one too here.
func (r *chaosRun) component(name string) clusterProcess {
	for _, p := range descendants(r.watch.first) {
		if p.parent == r.watch.first && p.is(name) || name == "operator" && p.is("/manager") {
			return p
		}
	}
	return clusterProcess{}
}

// errAway says that what was to be hit was not there.
var errAway = errors.New("it does not run")

func (r *chaosRun) signal(p clusterProcess, signal syscall.Signal) error {
	if p.pid == 0 {
		return errAway
	}
	if err := syscall.Kill(p.pid, signal); err != nil {
		return fmt.Errorf("sending %s to %q: %w", signal, p.command[0], err)
	}
	return nil
}

// freeze stops a process for a while. Whoever talks to it gets no answer and no error.
func (r *chaosRun) freeze(name string, lasts time.Duration) (chaos.Event, func() error, error) {
	p := r.component(name)
	now := time.Now()
	done := chaos.Event{Kind: chaos.Freeze, Row: name, What: name + " stopped", Until: now.Add(lasts)}
	if err := r.signal(p, syscall.SIGSTOP); err != nil {
		return done, nil, err
	}
	// Not in the order of the other steps, which may wait for just this process.
	r.frozen.Go(func() {
		elapse.For(r.t.Context(), lasts)
		_ = syscall.Kill(p.pid, syscall.SIGCONT) // it may have been killed meanwhile
	})
	return done, nil, nil
}

// killOnce kills the process of a container, unless it was killed too often in the same pod.
func (r *chaosRun) killOnce(what string, p clusterProcess) error {
	key := what + " " + p.pod()
	if p.pid != 0 && r.killed[key] >= oftenKilled {
		return fmt.Errorf("it was killed %d times in this pod, and the kubelet would wait long before the next start", oftenKilled)
	}
	r.killed[key]++
	return r.signal(p, syscall.SIGKILL)
}

// killOperator kills the process, or deletes the pod if the process was killed often.
func (r *chaosRun) killOperator(chaos.Step) (chaos.Event, func() error, error) {
	done := chaos.Event{Kind: chaos.Kill, Row: "operator", What: "operator killed"}
	p := r.component("operator")
	if p.pid != 0 && r.killed["operator "+p.pod()] < oftenKilled {
		return done, nil, r.killOnce("operator", p)
	}
	done.What = "the operator's pod deleted without a grace period"
	return done, nil, r.persist(func(ctx context.Context) error {
		return r.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(operatorNamespace), client.GracePeriodSeconds(0))
	})
}

func (r *chaosRun) killSeid(step chaos.Step) (chaos.Event, func() error, error) {
	return r.killIn(step, "seid", clusterProcess.isSeid)
}

func (r *chaosRun) killSidecarOf(step chaos.Step) (chaos.Event, func() error, error) {
	return r.killIn(step, "sidecar", func(p clusterProcess) bool { return p.is("/opt/sei/sidecar", "serve") })
}

func (r *chaosRun) killIn(step chaos.Step, what string, is func(clusterProcess) bool) (chaos.Event, func() error, error) {
	found := r.watch.processesByNode(is)
	names := slices.Sorted(maps.Keys(found))
	done := chaos.Event{Kind: chaos.Kill, Row: what, What: what + " killed"}
	if len(names) == 0 {
		return done, nil, errAway
	}
	done.Node = names[step.Pick%len(names)]
	done.What = fmt.Sprintf("%s of %s killed", what, done.Node)
	return done, nil, r.killOnce(what, found[done.Node])
}

// pickNode is a node that is meant to be there all the time.
func (r *chaosRun) pickNode(step chaos.Step) string { return r.nodes[step.Pick%len(r.nodes)] }

func (r *chaosRun) losePod(step chaos.Step) (chaos.Event, func() error, error) {
	return r.removePod(step, "deleted", func(ctx context.Context, pod *corev1.Pod) error { return r.Delete(ctx, pod) })
}

// losePodAtOnce lets Kubernetes forget the pod while its processes still run.
func (r *chaosRun) losePodAtOnce(step chaos.Step) (chaos.Event, func() error, error) {
	return r.removePod(step, "deleted without a grace period", func(ctx context.Context, pod *corev1.Pod) error {
		return r.Delete(ctx, pod, client.GracePeriodSeconds(0))
	})
}

func (r *chaosRun) evictOne(step chaos.Step) (chaos.Event, func() error, error) {
	return r.removePod(step, "evicted", func(ctx context.Context, pod *corev1.Pod) error {
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}}
		return r.clients.CoreV1().Pods(pod.Namespace).EvictV1(ctx, eviction)
	})
}

func (r *chaosRun) removePod(step chaos.Step, how string, remove func(context.Context, *corev1.Pod) error) (chaos.Event, func() error, error) {
	node := r.pickNode(step)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: node + "-0"}}
	done := chaos.Event{Kind: chaos.Loss, Row: "pod", Node: node, What: fmt.Sprintf("pod of %s %s", node, how)}
	return done, nil, r.persist(func(ctx context.Context) error { return remove(ctx, pod) })
}

func (r *chaosRun) loseStatefulSet(step chaos.Step) (chaos.Event, func() error, error) {
	node := r.pickNode(step)
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: node}}
	done := chaos.Event{Kind: chaos.Loss, Row: "StatefulSet", Node: node, What: fmt.Sprintf("StatefulSet of %s deleted", node)}
	return done, nil, r.persist(func(ctx context.Context) error {
		return r.Delete(ctx, set, client.PropagationPolicy(metav1.DeletePropagationBackground))
	})
}
