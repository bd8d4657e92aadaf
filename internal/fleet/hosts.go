package fleet

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// maxLabel is how long a part of a DNS name may be.
const maxLabel = validation.DNS1123LabelMaxLength

// hostnames are a route's names: in the platform's domain, and below the namespace in the public
// one.
func hostnames(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, p protocol) []string {
	var hosts []string
	if cfg.Gateway.Domain != "" {
		hosts = append(hosts, platform.Expand(cfg.Gateway.Hostname, map[string]string{
			platform.VarName: snd.Name, platform.VarNamespace: snd.Namespace, platform.VarProtocol: p.name,
		})+"."+cfg.Gateway.Domain)
	}
	if cfg.Gateway.PublicDomain != "" {
		hosts = append(hosts, fmt.Sprintf("%s.%s.%s", routeName(snd.Name, p), snd.Namespace, cfg.Gateway.PublicDomain))
	}
	return hosts
}

// p2pHost is the node's name in the peer-to-peer domain. It is made of names that do not change,
// so peers may write it down.
func p2pHost(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, ordinal int) string {
	return platform.Expand(cfg.P2P.Hostname, map[string]string{
		platform.VarName: snd.Name, platform.VarNamespace: snd.Namespace,
		platform.VarOrdinal: strconv.Itoa(ordinal), platform.VarChain: snd.Spec.Template.Spec.ChainID,
	}) + "." + cfg.Gateway.P2PDomain
}

func longestLabel(host string) int {
	longest := 0
	for label := range strings.SplitSeq(host, ".") {
		longest = max(longest, len(label))
	}
	return longest
}

// badHost says why a host name that a setting of the platform led to cannot be one; empty when it
// can. The setting itself was checked, so it is the names in it that are too long.
func badHost(host, setting string) string {
	if len(validation.IsDNS1123Subdomain(host)) == 0 && longestLabel(host) <= maxLabel {
		return ""
	}
	return fmt.Sprintf("%s is not a host name: a part of it is longer than %d characters: "+
		"give the fleet a shorter name, or separate the variables of %s in the operator's configuration by dots", host, maxLabel, setting)
}
