package platform

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

// checker looks for values that decode well but cannot work.
type checker struct {
	lines    map[string]int
	problems []problem
}

func check(c *Config, lines map[string]int) []problem {
	k := &checker{lines: lines}
	k.dnsName("clusterDomain", c.ClusterDomain)
	k.image("images.sidecar", c.Images.Sidecar)
	eachMode(&c.Scheduling, "scheduling", k.scheduling)
	eachMode(&c.Storage, "storage", k.storage)
	eachMode(&c.Resources.PerMode, "resources", k.resources)
	k.resources("resources.sidecar", c.Resources.Sidecar)
	k.bucket("buckets.snapshot", c.Buckets.Snapshot)
	k.bucket("buckets.genesis", c.Buckets.Genesis)
	k.bucket("buckets.resultExport", c.Buckets.ResultExport)
	if c.Snapshots.UploadTimeout.Duration <= 0 {
		k.failf("snapshots.uploadTimeout", "must be longer than zero, for example 2h")
	}
	if c.VolumeSnapshots.Keep < 1 {
		k.failf("volumeSnapshots.keep", "must be at least 1: the newest is the one that an upgrade can be undone with")
	}
	if c.VolumeSnapshots.Timeout.Duration <= 0 {
		k.failf("volumeSnapshots.timeout", "must be longer than zero, for example 2m")
	}
	if name := c.VolumeSnapshots.ClassName; name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		k.failf("volumeSnapshots.className", "%q is no name of a VolumeSnapshotClass", name)
	}
	if c.Sidecar.StandingPermission.Duration < 0 {
		k.failf("sidecar.standingPermission", "must not be negative: write 0s for none, or for example 24h")
	}
	k.gateway(c.Gateway)
	k.p2p(c.P2P)
	k.networkPolicies(c.NetworkPolicies)
	k.syncers(c.StateSync.Syncers)
	k.ec2(c.Peers.EC2)
	for i, name := range c.Peers.Label.Namespaces {
		if name != AnyNamespace {
			k.namespace(fmt.Sprintf("peers.label.namespaces[%d]", i), name)
		}
	}
	return k.problems
}

func (k *checker) failf(field, format string, args ...any) {
	k.problems = append(k.problems, problem{line: k.line(field), field: field, text: fmt.Sprintf(format, args...)})
}

// line is the field's own, or that of the nearest field around it.
func (k *checker) line(field string) int {
	for {
		if line, ok := k.lines[field]; ok {
			return line
		}
		cut := strings.LastIndexAny(field, ".[")
		if cut < 0 {
			return k.lines[""]
		}
		field = field[:cut]
	}
}

func eachMode[T any](p *PerMode[T], field string, visit func(string, T)) {
	visit(field+".default", p.Default)
	for name, value := range map[string]*T{
		"fullNode": p.FullNode, "archive": p.Archive, "replayer": p.Replayer,
		"validator": p.Validator, "seed": p.Seed,
	} {
		if value != nil {
			visit(field+"."+name, *value)
		}
	}
}

func (k *checker) dnsName(field, value string) {
	if value == "" {
		return
	}
	for _, msg := range validation.IsDNS1123Subdomain(value) {
		k.failf(field, "%q is not a DNS name: %s", value, msg)
	}
}

func (k *checker) storage(field string, s Storage) {
	if s.Size != nil && s.Size.Sign() <= 0 {
		k.failf(field+".size", "must be more than zero, for example 500Gi")
	}
	if s.ClassName != nil {
		k.dnsName(field+".className", *s.ClassName)
	}
}

func (k *checker) resources(field string, r ContainerResources) {
	for part, list := range map[string]corev1.ResourceList{"requests": r.Requests, "limits": r.Limits} {
		for name, quantity := range list {
			at := fmt.Sprintf("%s.%s.%s", field, part, name)
			if !knownResource(string(name)) {
				k.failf(at, "no such resource; write cpu, memory, ephemeral-storage, hugepages-<size> or a name with a domain")
			}
			if quantity.Sign() < 0 {
				k.failf(at, "must not be negative")
			}
		}
	}
	for name, request := range r.Requests {
		if limit, ok := r.Limits[name]; ok && request.Cmp(limit) > 0 {
			k.failf(fmt.Sprintf("%s.requests.%s", field, name), "%s is more than the limit of %s", request.String(), limit.String())
		}
	}
}

func knownResource(name string) bool {
	plain := []string{string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourceEphemeralStorage)}
	return slices.Contains(plain, name) || strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) || strings.Contains(name, "/")
}

// bucketSchemes are the providers the sidecar can open.
var bucketSchemes = []string{"s3", "gs", "azblob", "file"}

func (k *checker) bucket(field, address string) {
	if address == "" {
		return
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		k.failf(field, "%q is not an address: %v", address, err)
	case !slices.Contains(bucketSchemes, u.Scheme):
		k.failf(field, "%q must begin with one of %s://", address, strings.Join(bucketSchemes, "://, "))
	case u.Scheme == "file" && u.Path == "", u.Scheme != "file" && u.Host == "":
		k.failf(field, "%q names no bucket: write for example s3://my-bucket?region=eu-central-1", address)
	case u.User != nil:
		k.failf(field, "holds credentials: give the pods an identity by scheduling.default.serviceAccountName instead")
	}
}

func (k *checker) gateway(g Gateway) {
	for field, value := range map[string]string{
		"name": g.Name, "namespace": g.Namespace, "domain": g.Domain, "publicDomain": g.PublicDomain, "p2pDomain": g.P2PDomain,
	} {
		k.dnsName("gateway."+field, value)
	}
	together := map[string]string{"name": g.Name, "namespace": g.Namespace, "domain": g.Domain}
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(together)), func(f string) bool { return together[f] != "" })
	if len(missing) > 0 && len(missing) < len(together) {
		k.failf("gateway", "name, namespace and domain come together; missing: %s", strings.Join(missing, ", "))
	}
	k.hostname("gateway.hostname", g.Hostname, []string{VarName, VarProtocol}, []string{VarNamespace})
	if g.NLBTargetType != TargetTypeIP && g.NLBTargetType != TargetTypeInstance {
		k.failf("gateway.nlbTargetType", "%q is neither %s nor %s", g.NLBTargetType, TargetTypeIP, TargetTypeInstance)
	}
}

func (k *checker) ec2(e EC2Peers) {
	if (len(e.Regions) == 0) != (len(e.Tags) == 0) {
		k.failf("peers.ec2", "regions and tags come together: without one of them nothing can be asked")
	}
	for i, tag := range e.Tags {
		if name, _, _ := strings.Cut(tag, "="); name == "" {
			k.failf(fmt.Sprintf("peers.ec2.tags[%d]", i), "%q names no tag: write name or name=value", tag)
		}
	}
}

func (k *checker) syncers(byChain map[string][]string) {
	for chain, hosts := range byChain {
		field := "stateSync.syncers." + chain
		if different := len(slices.Compact(slices.Sorted(slices.Values(hosts)))); different < 2 {
			k.failf(field, "different witnesses listed: %d; state sync needs two to tell a lie from the truth", different)
		}
		for i, address := range hosts {
			if _, err := rpc.ParseServer(address); err != nil {
				k.failf(fmt.Sprintf("%s[%d]", field, i), "%v", err)
			}
		}
	}
}
