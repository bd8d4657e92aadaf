package sidecarsim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/server"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

// process is one run of a pod's sidecar container.
type process struct {
	all     *Sidecars
	pod     *corev1.Pod
	node    string
	volume  string
	started time.Time
	http    *http.Server
	// certificate is nil for a sidecar that speaks plain HTTP only.
	certificate server.GetCertificate

	// gate is guarded by the model's lock.
	gate gate

	mu      sync.RWMutex
	engine  *engine.Engine
	handler http.Handler
}

func (s *Sidecars) startProcess(c podsim.Container) (*process, error) {
	p := &process{all: s, pod: c.Pod, node: NodeOf(c.Pod), volume: volumeOf(c), started: time.Now()}
	s.model.use(p.node, p.volume)
	p.certificate = p.certificateOf(c)
	if err := p.open(); err != nil {
		return nil, err
	}
	address := net.JoinHostPort(c.IP, strconv.Itoa(int(s.port(c))))
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", address)
	if err != nil {
		p.close()
		return nil, fmt.Errorf("listening on %s: %w", address, err)
	}
	if p.certificate != nil {
		l = server.WithTLS(l, p.certificate)
	}
	p.http = &http.Server{Handler: p, ConnContext: server.ConnContext, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	go func() { _ = p.http.Serve(l) }()
	return p, nil
}

func (s *Sidecars) port(c podsim.Container) int32 {
	for _, spec := range slices.Concat(c.Pod.Spec.InitContainers, c.Pod.Spec.Containers) {
		if spec.Name == s.opts.Container && len(spec.Ports) > 0 {
			return spec.Ports[0].ContainerPort
		}
	}
	return s.opts.Port
}

// volumeOf names the store: that of the pod's claim, or else the pod's own.
func volumeOf(c podsim.Container) string {
	names := slices.Sorted(maps.Keys(c.Claims))
	if len(names) == 0 {
		return "pod-" + string(c.Pod.UID)
	}
	return claimVolume(c.Claims[names[0]])
}

func claimVolume(claim types.UID) string { return "claim-" + string(claim) }

// open opens the volume's store with the gate closed, as every new process does.
func (p *process) open() error {
	registry := prometheus.NewRegistry()
	log := slog.New(slog.DiscardHandler)
	p.all.model.mu.Lock()
	p.gate = gate{}
	owner := ""
	if p.all.model.levelOf(p.node) == api.Level { // older ones may not ask whose tasks they have
		owner = envOf(p.pod, p.all.opts.Container)[envNodeUID]
	}
	p.all.model.mu.Unlock()
	e, err := engine.Open(engine.Config{
		Path: p.storePath(), Owner: owner, Handlers: p.handlers(), Conditions: conditions{p}, Log: log, Registry: registry,
	})
	if err != nil {
		return fmt.Errorf("opening the task store of %s: %w", p.node, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.engine = e
	p.handler = p.atLevel(server.New(server.Config{
		Tasks: e, Auth: p.authenticator(), RequireTLS: p.certificate != nil, Identity: server.Identity{Node: p.node, PodUID: string(p.pod.UID)},
		NodeID: func() (string, error) { return p.nodeID(), nil }, InSync: p.inSync, Node: p.document, Version: "sidecarsim", Registry: registry, Log: log,
	}))
	return nil
}

func (p *process) inSync(context.Context) error { return p.all.keepsUp(p.node, p.pod.UID) }

func (p *process) storePath() string { return filepath.Join(p.all.dir, p.volume+".db") }

// nodeID belongs to the volume, where a real node keeps its key.
func (h *home) nodeID() string {
	sum := sha256.Sum256([]byte(h.identity))
	return hex.EncodeToString(sum[:20])
}

func (p *process) nodeID() string {
	p.all.model.mu.Lock()
	defer p.all.model.mu.Unlock()
	return p.all.model.home(p.volume).nodeID()
}

// NodeID is the peer-to-peer id a node's sidecar answers with; empty when it
// does not run.
func (s *Sidecars) NodeID(node string) string {
	if p := s.processOf(node); p != nil {
		return p.nodeID()
	}
	return ""
}

func (p *process) ready() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.engine.Ready()
}

// gateState is the gate as the engine knows it.
func (p *process) gateState() api.Gate {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.engine.Gate()
}

func (p *process) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	p.mu.RLock()
	defer p.mu.RUnlock()
	if err := p.engine.Close(ctx); err != nil {
		p.all.opts.Logf("sidecarsim: closing the sidecar of %s: %v", p.node, err)
	}
}

// stop ends the process at once: connections break, running tasks are cut off
// and run again by the next process on the volume.
func (p *process) stop() {
	_ = p.http.Close()
	p.close()
}

// LoseStore wipes a node's tasks, as a wiped volume and the restart that
// follows would: every id is unknown and the gate is closed.
func (s *Sidecars) LoseStore(node string) error {
	p := s.processOf(node)
	if p == nil {
		return fmt.Errorf("losing the store of %s: its sidecar does not run", node)
	}
	p.close()
	if err := os.Remove(p.storePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("losing the store of %s: %w", node, err)
	}
	s.model.mu.Lock()
	s.model.home(p.volume).restarts = map[string]int{} // they were noted in the store
	s.model.mu.Unlock()
	if err := p.open(); err != nil {
		return err
	}
	s.pokePod(p)
	return nil
}

// gateMoved takes up what a task did to the gate once it has ended, and has the
// pod's probes asked again.
func (p *process) gateMoved(id string) {
	p.mu.RLock()
	e := p.engine
	p.mu.RUnlock()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := e.Wait(ctx, id); err != nil {
			return
		}
		p.all.settle(p.pod.UID)
		p.all.pokePod(p)
	}()
}

func movesGate(t api.TaskType) bool { return t == api.MarkReady || t == api.MarkNotReady }
