package sidecarsim

import (
	"fmt"
	"path"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/seid/keys"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

// containerSeid is the container that the chain process runs in.
const containerSeid = "seid"

// chain is the chain process of a pod: it waits behind the gate, or it runs.
type chain struct {
	pod     types.UID
	node    string
	home    *home
	version string
	key     mountedKey

	state api.SeidState
	since time.Time
	// with and address are what a running process was started with.
	with    files
	address string
	// refused is how this binary has refused the state.
	refused *api.UpgradeRefusal
}

// mountedKey is the key that the container got from a Secret when it started.
type mountedKey struct {
	mounted bool
	address string
	err     error
}

func keyOf(c podsim.Container) mountedKey {
	for at, data := range c.Files {
		if path.Base(at) != keys.ConsensusKeyFile {
			continue
		}
		key, err := keys.ParseConsensusKey(data)
		return mountedKey{mounted: true, address: key.Address, err: err}
	}
	return mountedKey{}
}

// mountsKey reports whether a pod's seid is to get its key from a Secret.
func mountsKey(pod *corev1.Pod) bool {
	at := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == containerSeid })
	return at >= 0 && slices.ContainsFunc(pod.Spec.Containers[at].VolumeMounts, func(m corev1.VolumeMount) bool {
		return m.SubPath != "" && path.Base(m.MountPath) == keys.ConsensusKeyFile
	})
}

// versionOf is what the seid in a pod calls itself. It is the name of its image without the registry:
// what a mirror has is the same seid.
func versionOf(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == containerSeid {
			return path.Base(c.Image)
		}
	}
	return ""
}

// key is the address of the key that a home's seid has, and signs with if it signs: every home has
// one.
func (h *home) key(mounted mountedKey) string {
	if mounted.mounted {
		return mounted.address
	}
	return h.volumeKey()
}

// signer is the address that the process would sign with; empty when it signs
// with none.
func (c *chain) signer() string {
	if !c.home.signs() {
		return ""
	}
	return c.home.key(c.key)
}

func (c *chain) running() bool { return c.state == api.SeidRunning }

// end ends the process; the next one waits behind the gate.
func (c *chain) end(exit api.Exit, next api.SeidState) {
	if c.running() {
		c.home.lastExit = &exit
	}
	c.state, c.since, c.with, c.address = next, exit.At, files{}, ""
}

// chainStarted is called when a seid container starts.
func (m *model) chainStarted(c podsim.Container) {
	m.mu.Lock()
	defer m.mu.Unlock()
	volume, node := volumeOf(c), NodeOf(c.Pod)
	for uid, other := range m.chains {
		if uid != c.Pod.UID && other.home.volume == volume {
			m.violatef("S7: %s started in pod %s while pod %s uses the same volume", node, c.Pod.UID, uid)
		}
	}
	m.volumes[node] = volume
	m.chains[c.Pod.UID] = &chain{
		pod: c.Pod.UID, node: node, home: m.home(volume), version: versionOf(c.Pod), key: keyOf(c),
		state: api.SeidWaiting, since: time.Now(),
	}
}

// chainStopped is called when a seid container has ended.
func (m *model) chainStopped(c podsim.Container) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ch := m.chains[c.Pod.UID]
	if ch == nil {
		return
	}
	delete(m.chains, c.Pod.UID)
	exit := api.Exit{At: time.Now(), Reason: api.ExitStopped, Code: int(c.ExitCode)}
	if c.ExitCode != 0 && c.ExitCode != 143 {
		exit.Reason = api.ExitCrash
	}
	ch.end(exit, api.SeidExited)
}

// EndSeid ends a node's chain process as by itself. It stays ended until its
// container starts over.
func (s *Sidecars) EndSeid(node string, exit api.Exit) error {
	s.settleNode(node)
	m := s.model
	m.mu.Lock()
	c := m.chainOf(node)
	if c == nil || !c.running() {
		m.mu.Unlock()
		return fmt.Errorf("ending the seid of %s: it does not run", node)
	}
	c.end(exit, api.SeidExited)
	m.mu.Unlock()
	if p := s.process(c.pod); p != nil {
		s.pokePod(p)
	}
	return nil
}

// chainOf is the chain process of a node, the newest if there are two.
func (m *model) chainOf(node string) *chain {
	var newest *chain
	for _, c := range m.chains {
		if c.node == node && (newest == nil || c.since.After(newest.since)) {
			newest = c
		}
	}
	return newest
}

func (m *model) violatef(format string, args ...any) {
	m.violations = append(m.violations, fmt.Sprintf(format, args...))
}
