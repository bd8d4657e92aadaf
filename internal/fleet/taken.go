package fleet

import (
	"fmt"
	"slices"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// WithoutTaken is the platform as it is for one fleet: without the domains in which it would have
// a host name that an older fleet has. taken says which, and what to do. A name belongs to the
// oldest fleet that asks for it, so that no other can draw its traffic away.
func WithoutTaken(snd *v1alpha1.SeiNodeDeployment, all []v1alpha1.SeiNodeDeployment, cfg *platform.Config) (own *platform.Config, taken []string) {
	left := *cfg
	for i := range all {
		other := &all[i]
		if !older(other, snd) {
			continue
		}
		if host := common(routeHosts(snd, cfg), routeHosts(other, cfg)); host != "" {
			taken = append(taken, takenBy(host, other, "gateway.hostname"))
			left.Gateway.Domain = ""
		}
		if host := common(p2pHosts(snd, cfg), p2pHosts(other, cfg)); host != "" {
			taken = append(taken, takenBy(host, other, "p2p.hostname"))
			left.Gateway.P2PDomain = ""
		}
	}
	slices.Sort(taken)
	return &left, taken
}

func takenBy(host string, other *v1alpha1.SeiNodeDeployment, setting string) string {
	return fmt.Sprintf("%s is a host name of SeiNodeDeployment %s/%s, which is older: rename one of the two, or put $(%s) into %s of the operator's configuration",
		host, other.Namespace, other.Name, platform.VarNamespace, setting)
}

// older reports whether a was made before b; among those of one second the name decides.
func older(a, b *v1alpha1.SeiNodeDeployment) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Namespace+"/"+a.Name < b.Namespace+"/"+b.Name
}

func common(a, b []string) string {
	for _, host := range a {
		if slices.Contains(b, host) {
			return host
		}
	}
	return ""
}

// routeHosts are the host names of the fleet's routes in the platform's domain. Those in the
// public domain stand below their namespace and meet nobody.
func routeHosts(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) []string {
	if !snd.Spec.Networking.HTTPEnabled() || cfg.Gateway.Domain == "" || NoRoutes(snd, cfg) != "" {
		return nil
	}
	hosts := make([]string, 0, len(protocols))
	for _, p := range protocols {
		hosts = append(hosts, hostnames(snd, cfg, p)[0])
	}
	return hosts
}

func p2pHosts(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) []string {
	if !publishesP2P(snd, cfg) {
		return nil
	}
	hosts := make([]string, 0, snd.Spec.Replicas)
	for _, ordinal := range Ordinals(snd) {
		hosts = append(hosts, p2pHost(snd, cfg, ordinal))
	}
	return hosts
}
