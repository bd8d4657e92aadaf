package manager

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	eventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	k8sevents "k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/deployment"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/controller/node"
	"github.com/sei-operator/sei-operator/internal/controller/operation"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/peers"
)

// What the controllers do is marked beside them. These are for what is done here
// and in the operator's own namespace.
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=system,resources=leases,verbs=get;list;create;delete
// +kubebuilder:rbac:groups="",namespace=system,resources=serviceaccounts/token,resourceNames=sei-operator,verbs=create
// +kubebuilder:rbac:groups="",namespace=system,resources=secrets,verbs=create
// +kubebuilder:rbac:groups="",namespace=system,resources=secrets,resourceNames=sei-operator-sidecar-ca,verbs=get;patch

// sidecarTimeout bounds every call of a sidecar: no reconcile waits longer on a node.
const sidecarTimeout = 2 * time.Second

// Scheme knows every type the operator works with.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, gatewayv1.Install, seiv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	return scheme, nil
}

// New assembles the operator. Start the manager to run it.
func New(_ context.Context, restConfig *rest.Config, cfg Config) (ctrl.Manager, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	subject, err := operatorSubject(cfg)
	if err != nil {
		return nil, err
	}
	options, err := options(cfg)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(restConfig, options)
	if err != nil {
		return nil, fmt.Errorf("building the manager: %w", err)
	}
	access, err := newSidecarAccess(mgr, cfg, subject)
	if err != nil {
		return nil, err
	}
	if err := addChecks(mgr, access); err != nil {
		return nil, err
	}
	if err := mgr.Add(access); err != nil {
		return nil, fmt.Errorf("adding the certificate authority: %w", err)
	}
	if err := addControllers(mgr, cfg, access); err != nil {
		return nil, err
	}
	if err := addDefinitionCheck(mgr); err != nil {
		return nil, err
	}
	metrics.Default().SetBuildInfo(cfg.Version, cfg.Commit)
	return mgr, nil
}

func options(cfg Config) (ctrl.Options, error) {
	scheme, err := Scheme()
	if err != nil {
		return ctrl.Options{}, err
	}
	cached, err := cacheOptions(cfg.WatchNamespaces)
	if err != nil {
		return ctrl.Options{}, err
	}
	return ctrl.Options{
		Scheme: scheme,
		// Several operators may run in one process, each for its own namespaces.
		Controller:              ctrlconfig.Controller{SkipNameValidation: new(true)},
		Cache:                   cached,
		MapperProvider:          newMapper,
		Client:                  clientOptions(),
		Metrics:                 metricsOptions(cfg),
		HealthProbeBindAddress:  cfg.ProbeAddress,
		LeaderElection:          cfg.LeaderElection,
		LeaderElectionID:        leaderElectionID,
		LeaderElectionNamespace: cfg.Namespace,
		// The process ends when the manager does, so that the successor may
		// begin at once.
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       new(cfg.ShutdownTimeout),
	}, nil
}

func metricsOptions(cfg Config) metricsserver.Options {
	serve := metricsserver.Options{BindAddress: cfg.MetricsAddress}
	if cfg.InsecureMetrics {
		return serve
	}
	serve.SecureServing = true
	serve.FilterProvider = filters.WithAuthenticationAndAuthorization
	serve.CertDir = cfg.MetricsCertDir
	// HTTP/2 buys a scraper nothing and has been a door for denial of service.
	serve.TLSOpts = []func(*tls.Config){func(t *tls.Config) { t.NextProtos = []string{"http/1.1"} }}
	return serve
}

func addChecks(mgr ctrl.Manager, access *sidecarAccess) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("sidecar-token", access.check); err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	if err := mgr.AddReadyzCheck("sidecar-ca", access.checkAuthority); err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	return nil
}

// newRecorder makes the way in which the controllers tell users of what happens.
func newRecorder(mgr ctrl.Manager) (*events.Recorder, error) {
	api, err := eventsv1.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("building the client for events: %w", err)
	}
	broadcaster, err := events.NewBroadcaster(mgr.GetLogger().WithName("events"), &k8sevents.EventSinkImpl{Interface: api})
	if err != nil {
		return nil, err
	}
	if err := mgr.Add(broadcaster); err != nil {
		return nil, fmt.Errorf("adding the broadcaster of events: %w", err)
	}
	return events.NewRecorder(broadcaster.NewRecorder(mgr.GetScheme(), "sei-operator")), nil
}

func addControllers(mgr ctrl.Manager, cfg Config, access *sidecarAccess) error {
	recorder, err := newRecorder(mgr)
	if err != nil {
		return err
	}
	resolver := &peers.Resolver{Nodes: mgr.GetClient(), Label: cfg.Platform.Peers.Label, Watched: cfg.WatchNamespaces, ClusterDomain: cfg.Platform.ClusterDomain}
	if cfg.EC2 {
		allowed := cfg.Platform.Peers.EC2
		resolver.Instances = peers.Allowed{Source: &peers.Cache{Source: &peers.EC2{}}, Regions: allowed.Regions, Tags: allowed.Tags}
	}
	base := loop.Base{
		Client:   mgr.GetClient(),
		Live:     mgr.GetAPIReader(),
		Sidecars: access.pool,
		Platform: cfg.Platform,
		Events:   recorder,
		Metrics:  metrics.Default(),
		Tracer:   cfg.Tracer,
	}
	for _, controller := range []interface {
		SetupWithManager(mgr ctrl.Manager, concurrency int) error
	}{
		&node.Reconciler{
			Base: base, SidecarSubjects: access.subjects, Peers: resolver, Namespace: cfg.Namespace,
			Secrets: mgr.GetCache(), Certificates: access.authority,
		},
		&deployment.Reconciler{Base: base},
		&operation.Reconciler{Base: base},
	} {
		if err := controller.SetupWithManager(mgr, cfg.Concurrency); err != nil {
			return fmt.Errorf("adding the controllers: %w", err)
		}
	}
	return nil
}
