package peers_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/peers"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// id makes a node id of one digit.
func id(digit string) string { return strings.Repeat(digit, 40) }

func newNode(namespace, name, nodeID string, change ...func(*seiv1.SeiNode)) *seiv1.SeiNode {
	n := &seiv1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"chain": "x"}}}
	n.Status.NodeID = nodeID
	for _, c := range change {
		c(n)
	}
	return n
}

func reader(t *testing.T, listError error, nodes ...client.Object) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := seiv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(nodes...).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if listError != nil {
				return listError
			}
			return c.List(ctx, list, opts...)
		},
	}).Build()
}

func withPeers(sources ...seiv1.PeerSource) func(*seiv1.SeiNode) {
	return func(n *seiv1.SeiNode) { n.Spec.Peers = sources }
}

func byLabel(namespace string) seiv1.PeerSource {
	return seiv1.PeerSource{Label: &seiv1.LabelPeers{Selector: map[string]string{"chain": "x"}, Namespace: namespace}}
}

func static(addresses ...seiv1.PeerAddress) seiv1.PeerSource {
	return seiv1.PeerSource{Static: &seiv1.StaticPeers{Addresses: addresses}}
}

func byTags() seiv1.PeerSource {
	return seiv1.PeerSource{EC2Tags: &seiv1.EC2TagPeers{Region: "eu-central-1", Tags: map[string]string{"role": "rpc"}}}
}

// cloud answers for EC2 as told.
type cloud struct {
	instances []peers.Instance
	err       error
}

func (c cloud) Find(context.Context, string, map[string]string) ([]peers.Instance, error) {
	return c.instances, c.err
}

func check(t *testing.T, gotPeers, gotProblems, wantPeers, wantProblems []string) {
	t.Helper()
	if diff := cmp.Diff(wantPeers, gotPeers); diff != "" {
		t.Errorf("peers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantProblems, gotProblems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestResolve_Static_SortedUniqueLowercaseWithoutSelf(t *testing.T) {
	node := newNode("sei", "a", id("a"), withPeers(
		static(seiv1.PeerAddress(id("c")+"@c.example:26656"), seiv1.PeerAddress(id("B")+"@[2001:db8::1]:26656")),
		static(seiv1.PeerAddress(id("c")+"@c.example:26656"), seiv1.PeerAddress(id("a")+"@me.example:26656")),
	))
	resolver := &peers.Resolver{}
	gotPeers, problems := resolver.Resolve(t.Context(), node, nil)
	check(t, gotPeers, problems, []string{id("b") + "@[2001:db8::1]:26656", id("c") + "@c.example:26656"}, nil)
}

func TestResolve_StaticNonsense_IsReportedAndLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		"host:1":                        `"host:1" is not nodeid@host:port`,
		"abc@host:1":                    `node id "abc" is not 40 hexadecimal digits`,
		id("a") + "@host":               `"host" is not host:port`,
		id("a") + "@host:x":             `port "x" is not a number`,
		id("a") + "@host:0":             `port 0 is not between 1 and 65535`,
		id("a") + "@host:70000":         `port 70000 is not between 1 and 65535`,
		id("a") + "@a,b:1":              `host "a,b" is neither a name nor an IP address`,
		id("a") + "@a b:1":              `host "a b" is neither a name nor an IP address`,
		id("a") + "@a\n:1":              `host "a\n" is neither a name nor an IP address`,
		id("a") + "@[fe80::1%eth0]:1":   `host "fe80::1%eth0" is neither a name nor an IP address`,
		id("a") + "@h\"\npersistent:12": `host "h\"\npersistent" is neither a name nor an IP address`,
	} {
		node := newNode("sei", "n", "", withPeers(static(seiv1.PeerAddress(text))))
		gotPeers, problems := (&peers.Resolver{}).Resolve(t.Context(), node, nil)
		check(t, gotPeers, problems, nil, []string{"spec.peers[0]: static.addresses[0]: " + want})
	}
}

// F7: nodes that start together find each other before any load balancer has a target.
func TestResolve_Label_UsesTheNameInsideTheClusterWhateverTheExternalAddress(t *testing.T) {
	node := newNode("sei", "a", id("a"), withPeers(byLabel("")))
	outside := func(n *seiv1.SeiNode) { n.Spec.ExternalAddress = "b.example.com:30000" }
	leaving := func(n *seiv1.SeiNode) {
		now := metav1.Now()
		n.DeletionTimestamp, n.Finalizers = &now, []string{"x/y"}
	}
	unlabelled := func(n *seiv1.SeiNode) { n.Labels = nil }
	resolver := &peers.Resolver{ClusterDomain: "cluster.local", Nodes: reader(t, nil,
		node.DeepCopy(),
		newNode("sei", "b", id("b"), outside),
		newNode("sei", "c", id("c")),
		newNode("sei", "d", id("d"), leaving),
		newNode("sei", "e", id("e"), unlabelled),
		newNode("other", "f", id("f")),
	)}
	gotPeers, problems := resolver.Resolve(t.Context(), node, []string{id("0") + "@gone:26656"})
	check(t, gotPeers, problems, []string{
		id("b") + "@b-0.b.sei.svc.cluster.local:26656",
		id("c") + "@c-0.c.sei.svc.cluster.local:26656",
	}, nil)
}

func TestResolve_LabelInAnotherNamespace(t *testing.T) {
	node := newNode("sei", "a", "", withPeers(byLabel("other")))
	resolver := &peers.Resolver{ClusterDomain: "k8s.corp", Nodes: reader(t, nil, newNode("sei", "b", id("b")), newNode("other", "a", id("f")))}
	for _, listed := range []string{"other", platform.AnyNamespace} {
		resolver.Label.Namespaces = []string{"third", listed}
		gotPeers, problems := resolver.Resolve(t.Context(), node, nil)
		check(t, gotPeers, problems, []string{id("f") + "@a-0.a.other.svc.k8s.corp:26656"}, nil)
		if refused := peers.Refused(node, resolver.Label); refused != "" {
			t.Errorf("with %s: %s", listed, refused)
		}
	}
}

// S11: who may edit a namespace learns nothing of the nodes of another, unless the platform allows it.
func TestResolve_LabelInANamespaceThatIsNotListed_IsRefusedAndKeepsThePeers(t *testing.T) {
	const refused = "label.namespace: the operator's configuration does not let other namespaces find the nodes of other: " +
		"add it to peers.label.namespaces there, or name the peers by static addresses"
	node := newNode("sei", "a", "", withPeers(byLabel(""), byLabel("other")))
	resolver := &peers.Resolver{ClusterDomain: "cluster.local", Nodes: reader(t, nil, newNode("sei", "b", id("b")), newNode("other", "c", id("c")))}
	for _, listed := range [][]string{nil, {"sei", "third"}} {
		resolver.Label.Namespaces = listed
		gotPeers, problems := resolver.Resolve(t.Context(), node, []string{id("0") + "@known:26656"})
		check(t, gotPeers, problems, []string{id("0") + "@known:26656", id("b") + "@b-0.b.sei.svc.cluster.local:26656"}, []string{"spec.peers[1]: " + refused})
		if got, want := peers.Refused(node, resolver.Label), "spec.peers[1]."+refused; got != want {
			t.Errorf("Refused = %q, want %q", got, want)
		}
	}
	own := newNode("sei", "a", "", withPeers(byLabel("sei"), static("x"), byTags()))
	if got := peers.Refused(own, resolver.Label); got != "" {
		t.Errorf("its own namespace is refused: %s", got)
	}
}

func TestResolve_LabelInANamespaceThatIsNotWatched_SaysSo(t *testing.T) {
	node := newNode("sei", "a", "", withPeers(byLabel("other")))
	resolver := &peers.Resolver{Nodes: reader(t, nil), Watched: []string{"sei"}, Label: platform.LabelPeers{Namespaces: []string{platform.AnyNamespace}}}
	gotPeers, problems := resolver.Resolve(t.Context(), node, []string{"old"})
	check(t, gotPeers, problems, []string{"old"},
		[]string{"spec.peers[0]: label.namespace: the operator does not watch namespace other: add --watch-namespace=other to its flags"})
}

func TestResolve_LabelPeerWithoutIDYet_IsWaitedFor(t *testing.T) {
	node := newNode("sei", "a", "", withPeers(byLabel("")))
	resolver := &peers.Resolver{ClusterDomain: "cluster.local", Nodes: reader(t, nil, newNode("sei", "b", ""), newNode("sei", "c", id("c")))}
	gotPeers, problems := resolver.Resolve(t.Context(), node, nil)
	check(t, gotPeers, problems, []string{id("c") + "@c-0.c.sei.svc.cluster.local:26656"}, []string{"waiting for the node id of SeiNode sei/b"})
	if !peers.Waiting(problems[0]) || peers.Waiting("spec.peers[0]: label.selector: x") {
		t.Error("Waiting does not tell a young peer from a problem")
	}
	old := []string{id("b") + "@b-0.b.sei.svc.cluster.local:26656", id("d") + "@gone-0.gone.sei.svc.cluster.local:26656"}
	gotPeers, problems = resolver.Resolve(t.Context(), node, old)
	check(t, gotPeers, problems, []string{old[0], id("c") + "@c-0.c.sei.svc.cluster.local:26656"}, []string{"waiting for the node id of SeiNode sei/b"})
}

func TestResolve_LabelSelectorNonsense_IsReported(t *testing.T) {
	node := newNode("sei", "a", "", withPeers(seiv1.PeerSource{Label: &seiv1.LabelPeers{Selector: map[string]string{"a b": "c"}}}))
	gotPeers, problems := (&peers.Resolver{Nodes: reader(t, nil)}).Resolve(t.Context(), node, []string{"old"})
	if len(gotPeers) != 0 || len(problems) != 1 || !strings.HasPrefix(problems[0], "spec.peers[0]: label.selector: ") {
		t.Errorf("Resolve = %v, %v", gotPeers, problems)
	}
}

func TestResolve_SourceFails_KeepsThePrevious(t *testing.T) {
	old := []string{id("1") + "@old:26656", id("2") + "@older:26656"}
	broken := errors.New("broken")
	cases := map[string]struct {
		resolver *peers.Resolver
		source   seiv1.PeerSource
		problem  string
	}{
		"label":               {&peers.Resolver{Nodes: reader(t, broken)}, byLabel(""), "spec.peers[1]: listing SeiNodes in namespace sei: broken"},
		"ec2":                 {&peers.Resolver{Instances: cloud{err: broken}}, byTags(), "spec.peers[1]: ec2Tags: broken"},
		"ec2 is switched off": {&peers.Resolver{}, byTags(), "spec.peers[1]: ec2Tags: the operator runs without access to EC2: start it with --ec2-peers"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			node := newNode("sei", "a", "", withPeers(static(seiv1.PeerAddress(id("3")+"@new:26656")), tc.source))
			gotPeers, problems := tc.resolver.Resolve(t.Context(), node, old)
			check(t, gotPeers, problems, []string{old[0], old[1], id("3") + "@new:26656"}, []string{tc.problem})
		})
	}
}

func TestResolve_EC2FailsWithALastGoodAnswer_UsesThatAlone(t *testing.T) {
	node := newNode("sei", "a", "", withPeers(byTags()))
	resolver := &peers.Resolver{Instances: cloud{
		instances: []peers.Instance{{ID: "i-1", Host: "h", Port: 26656, NodeID: id("1")}}, err: errors.New("throttled"),
	}}
	gotPeers, problems := resolver.Resolve(t.Context(), node, []string{id("9") + "@gone:26656"})
	check(t, gotPeers, problems, []string{id("1") + "@h:26656"}, []string{"spec.peers[0]: ec2Tags: throttled"})
}

func TestResolve_EC2InstanceWithoutID_KeepsTheOneItHad(t *testing.T) {
	node := newNode("sei", "a", "", withPeers(byTags()))
	resolver := &peers.Resolver{Instances: cloud{instances: []peers.Instance{
		{ID: "i-1", Host: "h1", Port: 26656, Problem: "its RPC is down"},
		{ID: "i-2", Host: "h2", Port: 26656, Problem: "its RPC is down"},
		{ID: "i-3", Host: "a,b", Port: 26656, NodeID: id("3")},
		{ID: "i-4", Host: "h4", Port: 26656, NodeID: "not-an-id"},
	}}}
	gotPeers, problems := resolver.Resolve(t.Context(), node, []string{id("1") + "@h1:26656"})
	check(t, gotPeers, problems, []string{id("1") + "@h1:26656"}, []string{
		"spec.peers[0]: ec2Tags: instance i-1: its RPC is down",
		"spec.peers[0]: ec2Tags: instance i-2: its RPC is down",
		`spec.peers[0]: ec2Tags: instance i-3: host "a,b" is neither a name nor an IP address`,
		`spec.peers[0]: ec2Tags: instance i-4: node id "not-an-id" is not 40 hexadecimal digits`,
	})
}

func TestResolve_EmptySource_IsReported(t *testing.T) {
	node := newNode("sei", "a", "", withPeers(seiv1.PeerSource{}))
	gotPeers, problems := (&peers.Resolver{}).Resolve(t.Context(), node, nil)
	check(t, gotPeers, problems, nil, []string{"spec.peers[0]: is empty: set one of static, label and ec2Tags"})
}
