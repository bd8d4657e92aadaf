package manager

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/tracing"
)

// Defaults of a Config.
const (
	DefaultConcurrency     = 10
	DefaultMetricsAddress  = ":8443"
	DefaultProbeAddress    = ":8081"
	DefaultTokenFile       = "/var/run/secrets/sei-sidecar/token" //nolint:gosec // a path, not a secret
	DefaultShutdownTimeout = 30 * time.Second
	leaderElectionID       = "sei-operator.sei.io"
)

// Config is what the operator process is told at start.
type Config struct {
	// Platform describes the cluster.
	Platform *platform.Config
	// Namespace is the operator's own: leader election and key reservations live there.
	Namespace string
	// WatchNamespaces restricts the operator to these namespaces. Empty means all.
	WatchNamespaces []string
	// Concurrency is how many objects of a kind are worked on at once.
	Concurrency int

	// MetricsAddress is where metrics are served; "0" serves none.
	MetricsAddress string
	// InsecureMetrics serves them over plain HTTP to everyone.
	InsecureMetrics bool
	// MetricsCertDir holds tls.crt and tls.key. Empty means a certificate made
	// at start.
	MetricsCertDir string
	// ProbeAddress is where health and readiness are served; "0" serves none.
	ProbeAddress string

	// LeaderElection lets one of several replicas work.
	LeaderElection bool
	// ShutdownTimeout is how long reconciles may take to end.
	ShutdownTimeout time.Duration

	// SidecarTokenFile holds a token of the operator's service account, as older sidecars want it.
	// For the others tokens of that account are asked for, one per node. Empty means that sidecars
	// are shown none.
	SidecarTokenFile string
	// AllowSharedAudience lets sidecars be called that accept the same token on all nodes.
	AllowSharedAudience bool
	// AllowPlaintext lets sidecars be called over plain HTTP whose pods gave them no certificate.
	AllowPlaintext bool
	// SidecarSubjects are further token subjects that sidecars should accept.
	SidecarSubjects []string
	// WrapSidecarTransport, if set, stands between the operator and the sidecars, as a
	// rest.Config's wrapper does between the operator and the API server.
	WrapSidecarTransport func(http.RoundTripper) http.RoundTripper
	// EC2 lets peer sources ask AWS.
	EC2 bool

	// Tracer exports spans; nil exports none.
	Tracer *tracing.Tracer

	// Version and Commit say what is running.
	Version, Commit string
}

// Validate reports everything that is wrong, by the names of the flags.
func (c *Config) Validate() error {
	var problems []error
	fail := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.Platform == nil {
		fail("the platform configuration is missing")
	}
	if c.Namespace == "" {
		fail("--namespace is empty: set it, or the environment variable POD_NAMESPACE, to the operator's own namespace")
	} else if wrong := validation.IsDNS1123Label(c.Namespace); len(wrong) > 0 {
		fail("--namespace %q is not a namespace: %s", c.Namespace, wrong[0])
	}
	if c.Concurrency < 1 || c.Concurrency > 1000 {
		fail("--concurrency is %d: choose between 1 and 1000", c.Concurrency)
	}
	if c.ShutdownTimeout <= 0 {
		fail("--shutdown-timeout is %s: it must be longer than zero", c.ShutdownTimeout)
	}
	return errors.Join(problems...)
}
