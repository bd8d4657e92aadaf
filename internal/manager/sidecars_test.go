package manager

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/sei-operator/sei-operator/internal/certificates"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/tokens"
)

// An operator whose role does not allow it to ask for tokens is not ready: the rollout of a newer
// one stops there, and the older one continues.
func TestCheck_OperatorThatGetsNoTokens_IsNotReady(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"system:serviceaccount:ops:sei"}`))
	if err := os.WriteFile(file, []byte("h."+claims+".s"), 0o600); err != nil {
		t.Fatal(err)
	}
	forbidden := errors.New("forbidden")
	for name, c := range map[string]struct {
		file string
		err  error
		want bool
	}{
		"all is well": {file, nil, true},
		"no role":     {file, forbidden, false},
		"no file":     {file + "x", nil, false},
	} {
		mint := counted(func(_ context.Context, audience string) (string, time.Duration, error) {
			if audience != readinessAudience {
				t.Errorf("asked for a token of %s", audience)
			}
			return "token", time.Hour, c.err
		}, logr.Discard())
		access := &sidecarAccess{
			file: c.file, tokens: tokens.NewSource(tokens.NewCache(mint, clock.RealClock{}), sidecar.TokenFile(c.file), clock.RealClock{}),
		}
		if err := access.check(httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil)); (err == nil) != c.want {
			t.Errorf("%s: %v, want no error: %t", name, err, c.want)
		}
	}
	if err := (&sidecarAccess{}).check(nil); err != nil {
		t.Errorf("an operator that shows no tokens: %v", err)
	}
}

// The Secret of the authority is needed where new pods get certificates, and nowhere else.
func TestCheckAuthority_NoAuthority_MattersWhereSidecarsGetCertificates(t *testing.T) {
	for certified, want := range map[bool]bool{true: false, false: true} {
		unreachable := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return errors.New("forbidden")
			},
		}).Build()
		access := &sidecarAccess{
			certified: certified,
			authority: &certificates.Authority{Secrets: unreachable, Namespace: "ops", Clock: clock.RealClock{}},
		}
		if err := access.Start(t.Context()); err != nil {
			t.Errorf("sidecars get certificates %t: the operator does not start: %v", certified, err)
		}
		if err := access.checkAuthority(httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil)); (err == nil) != want {
			t.Errorf("sidecars get certificates %t: %v, want no error: %t", certified, err, want)
		}
	}
}
