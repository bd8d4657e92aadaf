package sidecarsim

import (
	"fmt"
	"io/fs"
	"log/slog"

	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/server"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

// envTLSDir tells a sidecar where its certificate is.
const envTLSDir = "SEI_SIDECAR_TLS_DIR"

// certificateOf is the real sidecar's way to its certificate, from what the container mounts; nil when
// the pod gives it none, and for an older sidecar, which does not know of it.
func (p *process) certificateOf(c podsim.Container) server.GetCertificate {
	dir := envOf(c.Pod, p.all.opts.Container)[envTLSDir]
	p.all.model.mu.Lock()
	level := p.all.model.levelOf(p.node)
	p.all.model.mu.Unlock()
	if dir == "" || level < api.LevelTLS {
		return nil
	}
	read := func(name string) ([]byte, error) {
		content, ok := c.Mounted(dir)[name]
		if !ok {
			return nil, fmt.Errorf("%s/%s: %w", dir, name, fs.ErrNotExist)
		}
		return content, nil
	}
	return (&server.KeyPair{Read: read, Log: slog.New(slog.DiscardHandler), Clock: clock.RealClock{}}).Get
}
