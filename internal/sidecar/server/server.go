// Package server speaks the sidecar's v0 HTTP API: it turns requests into calls
// of the engine and the engine's answers into status codes and JSON. Decisions
// about tasks live in the engine, decisions about callers in auth.
package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

// Tasks is the engine as the server sees it.
type Tasks interface {
	Submit(api.TaskRequest) (id string, err error)
	Get(id string) (api.TaskResult, error)
	Wait(ctx context.Context, id string) (api.TaskResult, error)
	List() ([]api.TaskResult, error)
	Delete(id string) error
	Types() []api.TaskType
	Ready() bool
	Ping() error
}

// Registry is where the server's metrics are registered and served from.
type Registry interface {
	prometheus.Registerer
	prometheus.Gatherer
}

// Identity is the node that this sidecar serves. An empty field is not checked.
type Identity struct {
	// Node is the SeiNode's namespace/name.
	Node string
	// PodUID is the UID of the pod this process runs in.
	PodUID string
}

// Config is what a server needs from outside.
type Config struct {
	Tasks    Tasks
	Auth     auth.Authenticator
	Identity Identity
	// NodeID reads the node's peer-to-peer id.
	NodeID func() (string, error)
	// Node looks at the node; nil leaves the path out, as on an older sidecar.
	Node func(context.Context) api.Node
	// InSync says why the node is not in sync; nil means it is.
	InSync func(context.Context) error
	// Gate says whether seid may start and sign as an address; nil: it cannot tell.
	Gate func(consensusAddress string) api.GateAnswer
	// Heard, when set, is called for every request of a known caller.
	Heard    func()
	Version  string
	Registry Registry
	Log      *slog.Logger
	// RequireTLS turns requests away that come in the clear, but for those that are public. The
	// listener has to be one of WithTLS.
	RequireTLS bool
}

type server struct {
	Config
	rejections *prometheus.CounterVec
	metrics    http.Handler
}

// New returns the handler of the whole API.
func New(cfg Config) http.Handler {
	s := &server{Config: cfg, rejections: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "seictl_sidecar_authn_rejections_total",
		Help: "Requests rejected because of who sent them.",
	}, []string{"reason"})}
	s.Log = cmp.Or(s.Log, slog.Default())
	s.Registry.MustRegister(s.rejections)

	// To compress ten kilobytes takes a megabyte.
	s.metrics = promhttp.HandlerFor(s.Registry, promhttp.HandlerOpts{DisableCompression: true})

	public, private := s.muxes()
	open, guarded := s.meant(public), s.encrypted(s.authenticated(s.meant(s.audited(private))))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if api.IsPublic(r.URL.Path) {
			open.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}
