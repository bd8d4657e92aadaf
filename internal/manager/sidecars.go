package manager

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sei-operator/sei-operator/internal/certificates"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/tokens"
)

// readinessAudience is the audience of the token by which the operator sees that it gets any. No
// sidecar accepts it.
const readinessAudience = api.TokenAudience + "/readiness"

// sidecarAccess is how sidecars are called, and under which identity.
type sidecarAccess struct {
	pool     *sidecar.Pool
	subjects []string
	// tokens is nil when sidecars are shown none.
	tokens *tokens.Source
	file   string
	// authority is that of the certificates by which sidecars prove whose they are.
	authority *certificates.Authority
	// certified: new pods get a certificate, so that the operator needs an authority to be ready.
	certified bool
}

// operatorSubject is the service account of the operator's tokens; empty when it shows none.
func operatorSubject(cfg Config) (string, error) {
	if cfg.SidecarTokenFile == "" {
		return "", nil
	}
	return tokenSubject(cfg.SidecarTokenFile)
}

func newSidecarAccess(mgr ctrl.Manager, cfg Config, subject string) (*sidecarAccess, error) {
	access := &sidecarAccess{
		subjects: slices.Clone(cfg.SidecarSubjects), file: cfg.SidecarTokenFile,
		authority: &certificates.Authority{
			Secrets: mgr.GetClient(), Namespace: cfg.Namespace, Clock: clock.RealClock{}, Log: mgr.GetLogger().WithName("certificates"),
		},
		certified: cfg.Platform.Sidecar.ServesTLS(),
	}
	dial := sidecar.Options{
		Timeout: sidecarTimeout, RefuseShared: !cfg.AllowSharedAudience, WrapTransport: cfg.WrapSidecarTransport,
		Roots: access.authority.Roots, RefusePlaintext: !cfg.AllowPlaintext,
	}
	if subject != "" {
		core, err := corev1client.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
		if err != nil {
			return nil, fmt.Errorf("building the client for tokens: %w", err)
		}
		mint, err := tokens.Requests(core, subject)
		if err != nil {
			return nil, err
		}
		nodes := tokens.NewCache(counted(mint, mgr.GetLogger().WithName("tokens")), clock.RealClock{})
		access.tokens = tokens.NewSource(nodes, sidecar.TokenFile(cfg.SidecarTokenFile), clock.RealClock{})
		access.subjects = append([]string{subject}, access.subjects...)
		dial.Tokens = access.tokens
	}
	access.pool = sidecar.NewPool(dial)
	return access, nil
}

// Start implements manager.Runnable: the authority is made before the first node needs it.
func (a *sidecarAccess) Start(ctx context.Context) error {
	if a.certified {
		_, _ = a.authority.Roots(ctx) // which has logged why it failed, and is asked again
	}
	return nil
}

// checkAuthority reports whether the operator has a certificate authority, for the reason that check
// gives. Where no sidecar gets a certificate, none is needed.
func (a *sidecarAccess) checkAuthority(r *http.Request) error {
	if !a.certified {
		return nil
	}
	_, err := a.authority.Roots(r.Context())
	return err
}

// counted tells metrics and log of requests for tokens.
func counted(mint tokens.Mint, log logr.Logger) tokens.Mint {
	return func(ctx context.Context, audience string) (string, time.Duration, error) {
		token, valid, err := mint(ctx, audience)
		if err != nil {
			metrics.Default().TokenRequested(metrics.TokenFailed)
			log.Error(err, "no token for a sidecar", "audience", audience)
			return "", 0, err
		}
		metrics.Default().TokenRequested(metrics.TokenGranted)
		return token, valid, nil
	}
}

// check reports whether the operator gets tokens. One that does not is not ready, so that an upgrade
// without the new role leaves the work to the operator before it.
func (a *sidecarAccess) check(r *http.Request) error {
	if a.tokens == nil {
		return nil
	}
	if _, err := tokenSubject(a.file); err != nil {
		return err
	}
	_, err := a.tokens.Token(r.Context(), readinessAudience)
	return err
}
