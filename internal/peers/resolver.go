package peers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// Resolver resolves the peer sources of nodes.
type Resolver struct {
	// Nodes lists SeiNodes; a cache, so that it answers at once.
	Nodes client.Reader
	// Instances finds EC2 instances; nil means that ec2Tags cannot be used.
	Instances Instances
	// Label is where label sources may look beside the node's own namespace.
	Label platform.LabelPeers
	// Watched are the namespaces that Nodes knows; empty means all.
	Watched []string
	// ClusterDomain is the domain of the cluster's Services, for example
	// cluster.local.
	ClusterDomain string
}

// Instances answers for EC2. It must answer within two seconds, or with what it
// knew before and an error.
type Instances interface {
	// Find lists the running instances with the given tags. Beside an error it
	// may return the last good answer; nil then means that there is none.
	Find(ctx context.Context, region string, tags map[string]string) ([]Instance, error)
}

// Instance is a machine that may be a peer.
type Instance struct {
	ID   string
	Host string
	Port int32
	// NodeID is empty when it could not be found out; Problem says why.
	NodeID  string
	Problem string
}

// answer is what one source gave.
type answer struct {
	peers    []string
	problems []string
	// lost: the source gave nothing and nothing is known of it.
	lost bool
}

func (a *answer) problemf(format string, args ...any) {
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
}

// waitingPrefix begins the problems that only need time.
const waitingPrefix = "waiting for "

// Waiting reports whether a problem is none yet: a peer that is still starting.
// It needs no event; the node resolves its peers again.
func Waiting(problem string) bool { return strings.HasPrefix(problem, waitingPrefix) }

// Resolve returns the peers of a node, sorted and without duplicates, and in
// words what could not be resolved. previous is what the node had so far; it is
// kept when a source fails that has not answered since the operator started.
// The node itself is never among its peers.
func (r *Resolver) Resolve(ctx context.Context, node *seiv1.SeiNode, previous []string) (peers, problems []string) {
	for i, source := range node.Spec.Peers {
		got := r.source(ctx, node, source, previous)
		peers = append(peers, got.peers...)
		if got.lost {
			peers = append(peers, previous...)
		}
		for _, p := range got.problems {
			if !Waiting(p) {
				p = fmt.Sprintf("spec.peers[%d]: %s", i, p)
			}
			problems = append(problems, p)
		}
	}
	if self := strings.ToLower(node.Status.NodeID); self != "" {
		peers = slices.DeleteFunc(peers, func(p string) bool { return strings.HasPrefix(p, self+"@") })
	}
	return sortedUnique(peers), sortedUnique(problems)
}

func sortedUnique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func (r *Resolver) source(ctx context.Context, node *seiv1.SeiNode, source seiv1.PeerSource, previous []string) answer {
	switch {
	case source.Static != nil:
		return staticPeers(source.Static)
	case source.Label != nil:
		return r.labelPeers(ctx, node, source.Label, previous)
	case source.EC2Tags != nil:
		return r.instancePeers(ctx, source.EC2Tags, previous)
	}
	return answer{problems: []string{"is empty: set one of static, label and ec2Tags"}}
}
