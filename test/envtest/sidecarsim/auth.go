package sidecarsim

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

// KeysOf finds the signing keys of a control plane's tokens, as a sidecar in a pod does. config is
// one with a bearer token; dir is for files.
func KeysOf(config *rest.Config, dir string) (auth.Keys, error) {
	keys := &auth.Cluster{
		Server: config.Host, CAFile: filepath.Join(dir, "sidecars-ca.crt"), TokenFile: filepath.Join(dir, "sidecars-token"), Clock: clock.RealClock{},
	}
	for path, content := range map[string][]byte{keys.CAFile: config.CAData, keys.TokenFile: []byte(config.BearerToken)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, fmt.Errorf("writing the credentials of sidecars: %w", err)
		}
	}
	return keys, nil
}

// The environment that tells a sidecar which node it serves and which callers it accepts.
const (
	envSubjects  = "SEI_SIDECAR_ALLOWED_SUBJECTS"
	envNamespace = "SEI_NODE_NAMESPACE"
	envName      = "SEI_NODE_NAME"
	envNodeUID   = "SEI_NODE_UID"
)

// authenticator is the real sidecar's, set up by the environment of the pod's container.
func (p *process) authenticator() auth.Authenticator {
	if p.all.opts.Keys == nil {
		return bearer(p.all.opts.Token)
	}
	return &podAuth{process: p, env: envOf(p.pod, p.all.opts.Container)}
}

func envOf(pod *corev1.Pod, container string) map[string]string {
	env := map[string]string{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if c.Name != container {
			continue
		}
		for _, v := range c.Env {
			env[v.Name] = v.Value
		}
	}
	return env
}

type podAuth struct {
	process *process
	env     map[string]string
}

// Authenticate implements auth.Authenticator. An older sidecar does not look at the UID.
func (a *podAuth) Authenticate(r *http.Request) (string, error) {
	m := a.process.all.model
	m.mu.Lock()
	level := m.levelOf(a.process.node)
	m.mu.Unlock()
	audience := api.TokenAudience
	if uid := a.env[envNodeUID]; uid != "" && level >= api.LevelNodeToken {
		audience = api.NodeAudience(a.env[envNamespace], a.env[envName], uid)
	}
	kubernetes := &auth.Kubernetes{
		Keys: a.process.all.opts.Keys, Audience: audience, Subjects: strings.Split(a.env[envSubjects], ","), Clock: clock.RealClock{},
	}
	return kubernetes.Authenticate(r)
}

// bearer asks for a bearer token: this one, or any when it is empty.
type bearer string

// Authenticate implements auth.Authenticator.
func (b bearer) Authenticate(r *http.Request) (string, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" || (b != "" && token != string(b)) {
		return "", &auth.RejectionError{Status: http.StatusUnauthorized, Reason: "token", Message: "a bearer token for the sidecar is needed"}
	}
	return "test", nil
}
