package render_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/render/rendertest"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// caller is somebody who connects: a pod, or what is outside of the cluster when namespace is empty.
type caller struct {
	namespace string
	labels    map[string]string
}

var callers = map[string]caller{
	"outside":                  {},
	"own namespace":            {"sei", map[string]string{"app": "web"}},
	"another tenant":           {"tenant", map[string]string{"app": "web"}},
	"posing as the operator":   {"tenant", map[string]string{"app.kubernetes.io/name": "sei-operator"}},
	"node of the chain":        {"tenant", map[string]string{v1alpha1.LabelChain: "pacific-1", v1alpha1.LabelNode: "x"}},
	"node of another chain":    {"sei", map[string]string{v1alpha1.LabelChain: "atlantic-2", v1alpha1.LabelNode: "x"}},
	"the operator":             {rendertest.OperatorNamespace, map[string]string{"app.kubernetes.io/name": "sei-operator", "pod-template-hash": "a"}},
	"beside the operator":      {rendertest.OperatorNamespace, map[string]string{"app": "web"}},
	"pod of a named namespace": {"apps", map[string]string{"app": "web"}},
}

// mayConnect says what a network plugin makes of a policy, by the rules of the API.
func mayConnect(t *testing.T, policy *networkingv1.NetworkPolicy, who caller, port int32) bool {
	t.Helper()
	for _, rule := range policy.Spec.Ingress {
		opens := len(rule.Ports) == 0 || slices.ContainsFunc(rule.Ports, func(p networkingv1.NetworkPolicyPort) bool {
			return *p.Protocol == corev1.ProtocolTCP && p.Port.IntVal == port && p.EndPort == nil
		})
		from := len(rule.From) == 0 || slices.ContainsFunc(rule.From, func(p networkingv1.NetworkPolicyPeer) bool {
			return isPeer(t, policy.Namespace, p, who)
		})
		if opens && from {
			return true
		}
	}
	return false
}

func isPeer(t *testing.T, namespace string, peer networkingv1.NetworkPolicyPeer, who caller) bool {
	t.Helper()
	if peer.IPBlock != nil {
		t.Fatal("blocks of addresses are not judged here")
	}
	if who.namespace == "" {
		return false
	}
	if peer.NamespaceSelector == nil {
		return who.namespace == namespace && selects(t, peer.PodSelector, who.labels)
	}
	return selects(t, peer.NamespaceSelector, map[string]string{corev1.LabelMetadataName: who.namespace}) &&
		(peer.PodSelector == nil || selects(t, peer.PodSelector, who.labels))
}

func selects(t *testing.T, selector *metav1.LabelSelector, set map[string]string) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s.Matches(labels.Set(set))
}

// reach lists the names of the ports that somebody reaches, of those that a node may listen on.
func reach(t *testing.T, policy *networkingv1.NetworkPolicy, who caller) string {
	t.Helper()
	var open []string
	for _, port := range append(seid.AllPorts(), seid.Port{Name: "sidecar", Number: seid.PortSidecar}, seid.Port{Name: "ssh", Number: 22}) {
		if mayConnect(t, policy, who, port.Number) {
			open = append(open, port.Name)
		}
	}
	return strings.Join(open, " ")
}

const (
	everyPort = "evm-rpc evm-ws grpc rest p2p rpc metrics"
	noRPC     = "p2p metrics"
)

// everybody is a table of who reaches what where all reach the same, but for the exceptions.
func everybody(ports string, except map[string]string) map[string]string {
	table := map[string]string{}
	for name := range callers {
		table[name] = ports
	}
	maps.Copy(table, except)
	return table
}

func TestNetworkPolicy_WhoReachesWhat(t *testing.T) {
	change := func(n *v1alpha1.SeiNode, f func(*v1alpha1.SeiNodeSpec)) *v1alpha1.SeiNode { f(&n.Spec); return n }
	serving := everybody(everyPort, map[string]string{"the operator": everyPort + " sidecar"})
	hidden := everybody("metrics", map[string]string{"node of the chain": "p2p rpc metrics", "the operator": "metrics sidecar"})
	announced := everybody(noRPC, map[string]string{"node of the chain": "p2p rpc metrics", "the operator": noRPC + " sidecar"})
	none := func(*platform.NetworkPolicies) {}
	for name, tc := range map[string]struct {
		node     *v1alpha1.SeiNode
		platform func(*platform.NetworkPolicies)
		want     map[string]string
	}{
		"full node":                {fullNode(), none, serving},
		"archive":                  {archive(), none, serving},
		"replayer":                 {replayer(), none, serving},
		"seed":                     {seed(), none, everybody(noRPC, map[string]string{"the operator": noRPC + " sidecar"})},
		"validator":                {validator(), none, hidden},
		"validator of a ceremony":  {ceremonyValidator(), none, hidden},
		"validator with address":   {change(validator(), func(s *v1alpha1.SeiNodeSpec) { s.ExternalAddress = "val.example.com:26656" }), none, announced},
		"validator with host port": {change(validator(), func(s *v1alpha1.SeiNodeSpec) { s.P2PHostPort = 26656 }), none, announced},
		"other port of the sidecar": {
			change(fullNode(), func(s *v1alpha1.SeiNodeSpec) { s.Sidecar = &v1alpha1.SidecarSpec{Port: 8888} }), none, everybody(everyPort, nil),
		},
		"named scrapers": {fullNode(), func(p *platform.NetworkPolicies) { p.MetricsNamespaces = []string{"apps"} },
			everybody("evm-rpc evm-ws grpc rest p2p rpc", map[string]string{
				"the operator": "evm-rpc evm-ws grpc rest p2p rpc sidecar", "pod of a named namespace": everyPort,
			})},
		"named clients": {fullNode(), func(p *platform.NetworkPolicies) { p.RPCNamespaces = []string{"apps", "others"} },
			everybody(noRPC, map[string]string{
				"the operator": noRPC + " sidecar", "pod of a named namespace": everyPort, "node of the chain": everyPort,
			})},
		"named callers of sidecars": {fullNode(), func(p *platform.NetworkPolicies) { p.SidecarNamespaces = []string{"apps"} },
			everybody(everyPort, map[string]string{"the operator": everyPort + " sidecar", "pod of a named namespace": everyPort + " sidecar"})},
		"operator of other labels": {fullNode(), func(p *platform.NetworkPolicies) { p.OperatorPodLabels = map[string]string{"app": "web"} },
			everybody(everyPort, map[string]string{"beside the operator": everyPort + " sidecar"})},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(tc.node)
			tc.platform(&in.Platform.NetworkPolicies)
			policy := typed[networkingv1.NetworkPolicy](t, render.NetworkPolicy(in))
			got := map[string]string{}
			for who, c := range callers {
				got[who] = reach(t, policy, c)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The port of the sidecar is the one that the pod listens on.
func TestNetworkPolicy_OtherSidecarPort_IsForTheOperatorAlone(t *testing.T) {
	n := fullNode()
	n.Spec.Sidecar = &v1alpha1.SidecarSpec{Port: 8888}
	policy := typed[networkingv1.NetworkPolicy](t, render.NetworkPolicy(input(n)))
	for name, who := range callers {
		if got, want := mayConnect(t, policy, who, 8888), name == "the operator"; got != want {
			t.Errorf("%s reaches port 8888: %t", name, got)
		}
	}
}

// A policy holds for every pod that runs a sidecar, limits ingress alone, and goes with its node.
func TestNetworkPolicy_SelectsThePodsOfTheNode(t *testing.T) {
	for name, n := range everyNode() {
		in := input(n)
		policy := typed[networkingv1.NetworkPolicy](t, render.NetworkPolicy(in))
		pods := []map[string]string{statefulSet(t, in).Spec.Template.Labels}
		if source := n.Spec.Snapshot(); source != nil && source.BootstrapImage != "" {
			pods = append(pods, job(t, in).Spec.Template.Labels)
		}
		for _, pod := range pods {
			if !selects(t, &policy.Spec.PodSelector, pod) {
				t.Errorf("%s: the policy does not select %v", name, pod)
			}
			pod[v1alpha1.LabelNode] = "another"
			if selects(t, &policy.Spec.PodSelector, pod) {
				t.Errorf("%s: the policy selects the pod of another node", name)
			}
		}
		if diff := cmp.Diff([]networkingv1.PolicyType{networkingv1.PolicyTypeIngress}, policy.Spec.PolicyTypes); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
		if !metav1.IsControlledBy(policy, n) || policy.Name != n.Name || policy.Namespace != n.Namespace {
			t.Errorf("%s: %+v, want the name of the node and its namespace, %s/%s, and the node as owner", name, policy.ObjectMeta, n.Namespace, n.Name)
		}
	}
}
