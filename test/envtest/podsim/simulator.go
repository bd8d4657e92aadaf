package podsim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Options of a Simulator.
type Options struct {
	// Namespace restricts the simulator to one namespace, so that tests that
	// share a control plane can each have their own. Empty means all.
	Namespace string
	// Nodes is how many nodes there are; 3 if zero.
	Nodes int
	// Runtime is what runs in the containers; NoRuntime if nil.
	Runtime Runtime
	// EveryStep writes a status for every single change. Otherwise changes
	// that happen at the same moment are reported together, as kubelets do.
	EveryStep bool
	// BindClaims binds claims here, for control planes without the
	// persistent volume binder.
	BindClaims bool
	// CrashBackOff is the first pause of a crash loop; 10 s if zero.
	CrashBackOff time.Duration
	// Workers is how many pods are served at once; 8 if zero.
	Workers int
	// Logf gets the simulator's own troubles; Start sets it to the test's.
	Logf func(format string, args ...any)
}

// Simulator plays kubelet, scheduler and provisioner. Use Start.
type Simulator struct {
	opts    Options
	client  kubernetes.Interface
	runtime Runtime
	ips     *subnet
	cancel  context.CancelFunc
	done    sync.WaitGroup

	pods       cache.SharedIndexInformer
	claims     cache.SharedIndexInformer
	secrets    cache.SharedIndexInformer
	configMaps cache.SharedIndexInformer
	classes    cache.SharedIndexInformer
	podQueue   workqueue.TypedRateLimitingInterface[types.NamespacedName]
	claimQueue workqueue.TypedRateLimitingInterface[types.NamespacedName]

	mu    sync.Mutex
	rules []*rule
	runs  map[types.UID]*run
	nodes []*node
	turn  int
	held  map[types.NamespacedName]bool
	// bound pods need not be scheduled again while the informer lags behind.
	bound map[types.UID]bool
}

// Start starts a simulator that ends with the test.
func Start(tb testing.TB, config *rest.Config, opts Options) *Simulator {
	tb.Helper()
	if opts.Logf == nil {
		opts.Logf = tb.Logf
	}
	s, err := New(tb.Context(), config, opts)
	if err != nil {
		tb.Fatalf("starting the pod simulator: %v", err)
	}
	tb.Cleanup(s.Stop)
	return s
}

// New starts a simulator; Stop ends it.
func New(ctx context.Context, config *rest.Config, opts Options) (*Simulator, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = "podsim"
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	ips, err := reserveSubnet()
	if err != nil {
		return nil, err
	}
	s := &Simulator{
		opts: opts.withDefaults(), client: client, ips: ips,
		runs: map[types.UID]*run{}, held: map[types.NamespacedName]bool{}, bound: map[types.UID]bool{},
		podQueue:   newQueue(),
		claimQueue: newQueue(),
	}
	s.runtime = s.opts.Runtime
	s.runtime.Notify(s.Poke)
	if err := s.start(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.Runtime == nil {
		o.Runtime = NoRuntime{}
	}
	if o.CrashBackOff == 0 {
		o.CrashBackOff = 10 * time.Second
	}
	if o.Workers == 0 {
		o.Workers = 8
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	return o
}

func newQueue() workqueue.TypedRateLimitingInterface[types.NamespacedName] {
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, time.Second))
}

func (s *Simulator) start(ctx context.Context) error {
	if err := s.createNodes(ctx); err != nil {
		return err
	}
	if err := s.createStorageClasses(ctx); err != nil {
		return err
	}
	// Not the caller's context: Stop ends the simulator, in order.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	factory := informers.NewSharedInformerFactoryWithOptions(s.client, 0, informers.WithNamespace(s.opts.Namespace))
	s.pods = factory.Core().V1().Pods().Informer()
	s.claims = factory.Core().V1().PersistentVolumeClaims().Informer()
	s.secrets = factory.Core().V1().Secrets().Informer()
	s.configMaps = factory.Core().V1().ConfigMaps().Informer()
	s.classes = factory.Storage().V1().StorageClasses().Informer()
	if err := s.subscribe(); err != nil {
		return err
	}
	factory.Start(running.Done())
	for kind, ok := range factory.WaitForCacheSync(ctx.Done()) {
		if !ok {
			return fmt.Errorf("filling the cache of %v: %w", kind, errors.Join(ctx.Err(), errNotSynced))
		}
	}
	for range s.opts.Workers {
		s.work(running, s.podQueue, s.syncPod)
	}
	s.work(running, s.claimQueue, s.syncClaim)
	s.work(running, s.claimQueue, s.syncClaim)
	return nil
}

var errNotSynced = errors.New("informer did not sync")

// work runs a worker until the queue is shut down.
func (s *Simulator) work(ctx context.Context, queue workqueue.TypedRateLimitingInterface[types.NamespacedName],
	sync func(context.Context, types.NamespacedName) (time.Duration, error),
) {
	s.done.Go(func() {
		for {
			key, shutdown := queue.Get()
			if shutdown {
				return
			}
			after, err := sync(ctx, key)
			queue.Done(key)
			switch {
			case err != nil:
				s.opts.Logf("podsim: %s: %v; trying again", key, err)
				queue.AddRateLimited(key)
			case after > 0:
				queue.Forget(key)
				queue.AddAfter(key, after)
			default:
				queue.Forget(key)
			}
		}
	})
}

// Stop ends the simulator. Pods stay as they are; their containers are told to
// stop, so that nothing keeps listening.
func (s *Simulator) Stop() {
	s.podQueue.ShutDown()
	s.claimQueue.ShutDown()
	s.done.Wait()
	if s.cancel != nil {
		s.cancel()
	}
	s.mu.Lock()
	runs := s.runs
	s.runs = map[types.UID]*run{}
	s.mu.Unlock()
	for uid, r := range runs {
		s.stopRun(uid, r)
	}
	s.ips.release()
}

// stopRun ends the containers of a pod that is gone.
func (s *Simulator) stopRun(uid types.UID, r *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pod := r.written
	if pod == nil {
		pod = &corev1.Pod{}
		pod.UID = uid
	}
	(&step{sim: s, pod: pod, run: r, now: time.Now()}).stopAll(exitKilled)
}

// Poke has a pod looked at again.
func (s *Simulator) Poke(namespace, pod string) {
	s.podQueue.Add(types.NamespacedName{Namespace: namespace, Name: pod})
}

func keyOf(obj any) (types.NamespacedName, bool) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return types.NamespacedName{}, false
	}
	namespace, name, ok := strings.Cut(key, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}, ok
}
