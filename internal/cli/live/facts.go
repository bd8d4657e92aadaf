// Package live asks nodes what only they know, at the moment it is asked: height, lag, peers, disk,
// application hash. It goes through a Proxy, which in the plugin is the pod proxy of the API server.
//
// The sidecar's metrics are open to everyone and tell most of it. seid's RPC tells what the state has
// come to, and stands in where the sidecar cannot be reached. What nobody answers is missing, with the
// reason; nothing is taken from the status of an object.
package live

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// Proxy asks a pod over HTTP.
type Proxy interface {
	Get(ctx context.Context, pod types.NamespacedName, scheme string, port int, path string, query map[string]string) ([]byte, error)
}

// Facts are what a node tells about itself. What is not known is nil or empty.
type Facts struct {
	// SyncState is that of the sidecar, for example inSync; see docs/reference/node-document.md.
	SyncState string `json:"syncState,omitempty"`
	Height    *int64 `json:"height,omitempty"`
	Lag       *int64 `json:"lag,omitempty"`
	Peers     *int64 `json:"peers,omitempty"`
	Disk      *Disk  `json:"disk,omitempty"`
	// Upgrade is what the node says of the upgrade that its chain has planned.
	Upgrade *Upgrade `json:"upgrade,omitempty"`
	// App is what the application's state has come to.
	App *App `json:"app,omitempty"`
	// Missing says why facts are missing.
	Missing []Missing `json:"missing,omitempty"`
}

// Disk is the file system of a node's home, in bytes.
type Disk struct {
	Size int64 `json:"size"`
	Free int64 `json:"free"`
}

// App is the state of the application after a block.
type App struct {
	Height int64 `json:"height"`
	// Hash is in upper-case hex.
	Hash string `json:"hash"`
}

// Missing is a fact that nobody told.
type Missing struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// UsedPercent is how full the file system is.
func (d Disk) UsedPercent() int64 {
	if d.Size <= 0 {
		return 0
	}
	return (d.Size - d.Free) * 100 / d.Size
}

// Left is about how long the file system will take what is written to it, by the pace since the
// volume was made; 0 when that cannot be told. The first state counts as written, so that a node that
// began with a snapshot gets too short a time rather than too long a one.
func (d Disk) Left(volumeAge time.Duration) time.Duration {
	used := d.Size - d.Free
	if volumeAge < shortestAge || used <= 0 || d.Free < 0 {
		return 0
	}
	const longest = 100 * 365 * 24 * time.Hour
	left := float64(volumeAge) * float64(d.Free) / float64(used)
	return time.Duration(min(left, float64(longest)))
}

// shortestAge is how old a volume has to be before its pace says anything.
const shortestAge = 24 * time.Hour

// Ask asks one node. It always returns facts, however few.
func Ask(ctx context.Context, proxy Proxy, node *v1alpha1.SeiNode) *Facts {
	facts := &Facts{}
	pod := types.NamespacedName{Namespace: node.Namespace, Name: render.PodName(node)}
	sidecar := askSidecar(ctx, proxy, pod, int(render.SidecarPort(node)), facts)
	if node.Spec.Role() == v1alpha1.RoleSeed {
		if sidecar != nil {
			facts.miss("all", sidecar)
		}
		facts.Missing = append(facts.Missing, Missing{"app hash", "a seed follows no chain"})
		return facts
	}
	rpc := askRPC(ctx, proxy, pod, int(seid.PortRPC), facts)
	explain(facts, sidecar, rpc)
	return facts
}

func (f *Facts) miss(what string, err error) {
	f.Missing = append(f.Missing, Missing{what, reason(err)})
}

// explain names what is missing, and whose silence is to blame.
func explain(f *Facts, sidecar, rpc error) {
	switch {
	case sidecar != nil && rpc != nil:
		f.miss("sidecar", sidecar)
		f.miss("rpc", rpc)
	case sidecar != nil:
		f.miss("sync state, disk", sidecar)
	case rpc != nil:
		f.miss("app hash", rpc)
	}
	if sidecar == nil && f.Disk == nil {
		f.Missing = append(f.Missing, Missing{"disk", "the sidecar has not measured it yet"})
	}
}
