package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

const (
	// lookPatience is how long a pass waits for a sidecar. Most answer within milliseconds; an
	// answer that comes later wakes the node up again.
	lookPatience = 250 * time.Millisecond
	// lookTimeout ends a look.
	lookTimeout = 5 * time.Second
	// lookFresh is how long an answer that came late may be used.
	lookFresh = 2 * time.Second
)

var errNoAnswerYet = errors.New("the sidecar has not answered yet")

// looks asks sidecars without holding up the workers: a sidecar that answers late, or never,
// costs its own node time and no other.
type looks struct {
	// late wakes a node up whose sidecar has answered at last, or has something new to tell.
	late chan event.TypedGenericEvent[*v1alpha1.SeiNode]
	// patience is lookPatience, but in tests that want no pass without an answer.
	patience time.Duration

	mu  sync.Mutex
	all map[types.NamespacedName]*look
}

// look is one question to the sidecar of one pod.
type look struct {
	pod  string
	done chan struct{}
	// before is how the question before this one failed; nil when it did not.
	before error
	// abandoned: no pass waits for the answer any more.
	abandoned bool
	document  *api.Node
	err       error
	at        time.Time
}

func newLooks() *looks {
	return &looks{
		late: make(chan event.TypedGenericEvent[*v1alpha1.SeiNode], 1024), patience: lookPatience,
		all: map[types.NamespacedName]*look{},
	}
}

// look asks the sidecar of a pod, or takes the answer to a question that an earlier pass asked.
func (l *looks) look(ctx context.Context, node *v1alpha1.SeiNode, pod string, s sidecar.Sidecar) (*api.Node, error) {
	key := types.NamespacedName{Namespace: node.Namespace, Name: node.Name}
	current, patience := l.begin(ctx, key, node, pod, s)
	if !current.running() {
		return l.take(key, current)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-current.done:
		return l.take(key, current)
	case <-timer.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !current.running() {
		return l.use(key, current) // it came with the end of the patience
	}
	current.abandoned = true
	return nil, current.soFar()
}

// soFar is what is known of a sidecar that has not answered yet: one that did not answer the
// question before either is not just slow.
func (k *look) soFar() error {
	if k.before != nil {
		return k.before
	}
	return errNoAnswerYet
}

// begin finds the question under way or asks a new one. Whoever kept an earlier pass waiting without success
// is not waited for again before it has answered.
func (l *looks) begin(ctx context.Context, key types.NamespacedName, node *v1alpha1.SeiNode, pod string, s sidecar.Sidecar) (*look, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.all[key]
	patience, failed := l.patience, error(nil)
	if before != nil && before.pod == pod {
		if before.running() || time.Since(before.at) < lookFresh {
			return before, 0
		}
		if before.err != nil {
			patience, failed = 0, before.err
		}
	}
	current := &look{pod: pod, done: make(chan struct{}), before: failed}
	l.all[key] = current
	go l.ask(context.WithoutCancel(ctx), current, node, s)
	return current, patience
}

func (k *look) running() bool {
	select {
	case <-k.done:
		return false
	default:
		return true
	}
}

func (l *looks) ask(ctx context.Context, current *look, node *v1alpha1.SeiNode, s sidecar.Sidecar) {
	bounded, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	document, err := lookAt(bounded, s)
	l.mu.Lock()
	current.document, current.err, current.at = document, err, time.Now()
	close(current.done)
	abandoned := current.abandoned
	l.mu.Unlock()
	if abandoned && err == nil {
		l.late <- event.TypedGenericEvent[*v1alpha1.SeiNode]{Object: node}
	}
}

// found keeps an answer that nobody waits for, and wakes its node up to use it.
func (l *looks) found(ctx context.Context, n *resting, document *api.Node, err error) {
	answered := &look{pod: n.pod, done: make(chan struct{}), document: document, err: err, at: time.Now()}
	close(answered.done)
	l.mu.Lock()
	l.all[n.key()] = answered
	l.mu.Unlock()
	select {
	case l.late <- event.TypedGenericEvent[*v1alpha1.SeiNode]{Object: n.node}:
	case <-ctx.Done():
	}
}

func (l *looks) take(key types.NamespacedName, current *look) (*api.Node, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.use(key, current)
}

// use uses an answer once. A failure stays known, so that the next pass does not wait for the
// same sidecar again.
func (l *looks) use(key types.NamespacedName, current *look) (*api.Node, error) {
	timedOut := current.err != nil && current.abandoned
	if l.all[key] == current && !timedOut {
		delete(l.all, key)
	}
	return current.document, current.err
}

func (l *looks) forget(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, key)
}

// lookAt asks for the document. An older sidecar can only tell whether its gate is open; the
// caller adds what it remembers.
func lookAt(ctx context.Context, s sidecar.Sidecar) (*api.Node, error) {
	document, err := s.Node(ctx)
	if err == nil {
		return &document, nil
	}
	if !errors.Is(err, sidecar.ErrNotFound) {
		return nil, err
	}
	health, err := s.Health(ctx)
	if err != nil {
		return nil, err
	}
	version, err := s.Version(ctx)
	if err != nil && !errors.Is(err, sidecar.ErrNotFound) {
		return nil, err
	}
	older := &api.Node{APILevel: version.APILevel, Gate: api.Gate{State: api.GateClosed}, Seid: api.Seid{State: api.SeidWaiting}}
	if health == sidecar.Ready {
		older.Gate.State, older.Seid.State = api.GateOpen, api.SeidRunning
	}
	if id, err := s.NodeID(ctx); err == nil {
		older.Home.NodeID = id
	}
	return older, nil
}
