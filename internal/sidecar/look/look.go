package look

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/upgrades"
)

const (
	// Bound is how long a look takes at most. It is below the time that callers give it.
	Bound = 1500 * time.Millisecond
	// askWait is how long a look waits for the node's answers, askBound how long the node
	// may take for them. A busy node needs more than a look has.
	askWait  = time.Second
	askBound = 4 * time.Second
	// oldAnswer is how old an answer may be that stands in for one on its way.
	oldAnswer = Every + askBound
	// keepAnswers is how long the node is not asked again, whoever looks.
	keepAnswers = time.Second
	// keepPlan is how long the chain's upgrades are not asked for again.
	keepPlan = 30 * time.Second
	// keepCompared is how long what is asked of the chain for metrics alone is not asked again.
	keepCompared = 30 * time.Second
	// keepUsage is how long the size of the home is not measured again.
	keepUsage = 5 * time.Minute
	// keepSnapshots is how long the snapshots are not listed again.
	keepSnapshots = 10 * time.Second
	// retryAfter is how soon something that failed in the background is tried again.
	retryAfter = time.Minute
	// Every is how often the sidecar looks when nobody asks.
	Every = 15 * time.Second
)

// Configuration is what is known of the configuration files on disk.
type Configuration struct {
	ConfigHash string
	Validation *api.Validation
	Refused    *api.Refusal
}

// Config is where a Look gets what it shows. A nil function has nothing to tell.
type Config struct {
	// Home is the node's home directory.
	Home string
	// RPC is a client of the node's own RPC.
	RPC func() *rpc.Client
	// Gate and Seid are the start gate and the chain process, without the restarts due.
	Gate func() api.Gate
	Seid func() api.Seid
	// Configuration is about the files on disk; RestartDue lists the keys that only a
	// restart picks up.
	Configuration func() Configuration
	RestartDue    func(inSync bool) []string
	// ConsensusAddress is the address of the consensus key as seid's own container sees it: a
	// key from a Secret may be mounted there alone. false: nobody has looked from there.
	ConsensusAddress func() (address string, known bool)
	// Published is about the snapshots in the bucket; nil when it is unknown.
	Published func() *api.Published
	// Version asks the chain binary what it calls itself. It is called until it answers.
	Version func(context.Context) (string, error)
	// Draining: a task is about to restart the node.
	Draining func() bool
	// ResultExport is the standing export of results; nil when there is none.
	ResultExport func() *api.StandingExport
	// Listeners replaces the kernel's tables in tests.
	Listeners Listeners
	Clock     clock.WithTicker
	Log       *slog.Logger
}

// Look looks at one node. It is safe for concurrent use.
type Look struct {
	Config
	home  home.Dir
	began time.Time
	// bound and wait are Bound and askWait; tests that are not about them wait longer.
	bound, wait time.Duration

	answers      shared[*Chain]
	traces       shared[traces]
	plan         shared[*chainUpgrades]
	snapshots    shared[[]api.Snapshot]
	checkpoints  shared[*checkpoint]
	validators   shared[*validatorState]
	used         background[int64]
	version      background[string]
	largeGenesis background[string]
	config       parsed[settings]
	genesis      parsed[string]
	nodeID       parsed[string]
	address      parsed[string]
	record       parsed[*upgrades.Record]

	mu      sync.Mutex
	history history
	marked  sync.Mutex
}

// New makes a Look. Nothing is looked at yet.
func New(cfg Config) *Look {
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}
	if cfg.Listeners == nil {
		cfg.Listeners = kernelListeners
	}
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	orNothing(&cfg.Gate)
	orNothing(&cfg.Seid)
	orNothing(&cfg.Configuration)
	orNothing(&cfg.Draining)
	orNothing(&cfg.ResultExport)
	orNothing(&cfg.Published)
	c := cfg.Clock
	return &Look{
		Config: cfg, home: home.Dir(cfg.Home), began: c.Now(), bound: Bound, wait: askWait,
		answers:      shared[*Chain]{clock: c, keep: keepAnswers, bound: askBound, old: oldAnswer},
		traces:       shared[traces]{clock: c, keep: keepAnswers, bound: askBound, old: oldAnswer},
		plan:         shared[*chainUpgrades]{clock: c, keep: keepPlan, bound: askBound, old: forever},
		snapshots:    shared[[]api.Snapshot]{clock: c, keep: keepSnapshots, bound: askBound, old: forever},
		checkpoints:  shared[*checkpoint]{clock: c, keep: keepCompared, bound: askBound, old: forever},
		validators:   shared[*validatorState]{clock: c, keep: keepCompared, bound: askBound, old: oldAnswer + keepCompared},
		used:         background[int64]{clock: c, keep: keepUsage, retry: retryAfter},
		version:      background[string]{clock: c, keep: forever, retry: retryAfter},
		largeGenesis: background[string]{clock: c, keep: forever, retry: retryAfter},
	}
}

const forever = 100 * 365 * 24 * time.Hour

func orNothing[T any](f *func() T) {
	if *f == nil {
		*f = func() (nothing T) { return nothing }
	}
}

// Node is the node as it is now. It always answers within Bound.
func (l *Look) Node(ctx context.Context) api.Node {
	ctx, cancel := context.WithTimeout(ctx, l.bound)
	defer cancel()
	set, process := l.settings(), l.Seid()
	process.Version = cmp.Or(process.Version, l.seidVersion(ctx))
	doc := api.Node{APILevel: api.Level, Gate: l.Gate(), Home: l.homeLook(set, process), Seid: process, Disk: l.disk()}
	doc.Sync = l.sync(ctx, set, doc)
	if l.RestartDue != nil {
		doc.Seid.RestartDue = l.RestartDue(doc.Sync.State == api.SyncInSync)
	}
	doc.Seid.Divergence = l.divergence(doc)
	l.upgrades(ctx, &doc)
	doc.Snapshots, doc.Published = l.finishedSnapshots(ctx, set.SnapshotDir), l.Published()
	doc.ResultExport = l.ResultExport()
	if doc.Sync.State == api.SyncInSync && doc.Home.Stage == api.HomeFirstSync {
		doc.Home.Stage = l.markSynced(doc)
	}
	return doc
}

// InSync says why no client should be sent to the node; nil means that it keeps up with its
// chain and stays.
func (l *Look) InSync(ctx context.Context) error {
	if l.Draining() {
		return errors.New(sayDraining)
	}
	s := l.Node(ctx).Sync
	switch {
	case Ready(s):
		return nil
	case s.Draining:
		return errors.New(sayDraining)
	}
	return errors.New(s.Message)
}

// Run looks now and then until ctx ends, so that the node's first sync is noticed and the
// history has no gaps when nobody asks.
func (l *Look) Run(ctx context.Context) {
	tick := l.Clock.NewTicker(Every)
	defer tick.Stop()
	for ctx.Err() == nil {
		l.Node(ctx)
		select {
		case <-tick.C():
		case <-ctx.Done():
		}
	}
}

func (l *Look) seidVersion(ctx context.Context) string {
	if l.Version == nil {
		return ""
	}
	return l.version.get("", func() (string, error) { return l.Version(context.WithoutCancel(ctx)) })
}
