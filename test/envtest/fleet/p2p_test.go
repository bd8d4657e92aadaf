package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// reached is a fleet of full nodes that are reached from outside.
func reached(name string, replicas int32) *v1alpha1.SeiNodeDeployment {
	snd := rpc(name, replicas)
	snd.Spec.Networking = &v1alpha1.NetworkingSpec{TCP: &v1alpha1.TCPNetworking{}}
	return snd
}

func TestF7_TCP_EveryNodeHasALoadBalancerAndAStableAddress(t *testing.T) {
	w := newPublishingWorld(t)
	got := w.bringUp(reached("rpc", 2))
	lb := w.awaitService("rpc-1-p2p", func(*corev1.Service) bool { return true })
	if lb.Spec.Type != corev1.ServiceTypeLoadBalancer || lb.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal ||
		*lb.Spec.AllocateLoadBalancerNodePorts || lb.Spec.Selector[v1alpha1.LabelNode] != "rpc-1" || !lb.Spec.PublishNotReadyAddresses ||
		lb.Annotations["external-dns.alpha.kubernetes.io/hostname"] != "rpc-1-p2p.pacific-1.p2p.example" ||
		lb.Annotations["service.beta.kubernetes.io/aws-load-balancer-nlb-target-type"] != "ip" || !metav1.IsControlledBy(lb, got) {
		t.Errorf("load balancer %+v %+v, want one of the fleet for rpc-1 with its host name and local traffic, without node ports", lb.ObjectMeta, lb.Spec)
	}
	if address := w.Node("rpc-1").Spec.ExternalAddress; address != "rpc-1-p2p.pacific-1.p2p.example:26656" {
		t.Errorf("external address %q, want that of rpc-1-p2p.pacific-1.p2p.example", address)
	}

	// The nodes wait for no load balancer, and nobody claims that there is one.
	w.awaitNetworking("rpc", metav1.ConditionFalse, v1alpha1.ReasonP2PEndpointsPending, "rpc-0-p2p, rpc-1-p2p")
	w.startLoadBalancers()
	w.awaitNetworking("rpc", metav1.ConditionTrue, v1alpha1.ReasonP2PEndpointsApplied, "")
	got = w.fleet("rpc")
	for i, e := range got.Status.NetworkingStatus.P2PEndpoints {
		if e.Hostname != fmt.Sprintf("rpc-%d-p2p.pacific-1.p2p.example:26656", i) || !strings.HasPrefix(e.Address, "198.51.100.") {
			t.Errorf("endpoint %+v, want host name rpc-%d-p2p.pacific-1.p2p.example:26656 and an address 198.51.100.*", e, i)
		}
	}
	w.forceReconcile("rpc")
	mark := w.Recorder.Mark()
	for range 3 {
		w.forceReconcile("rpc")
	}
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes of a settled fleet with load balancers")

	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas = 1 })
	envtest.WaitGone[corev1.Service](t, w.Env, w.NS, "rpc-1-p2p")
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Networking = nil })
	envtest.WaitGone[corev1.Service](t, w.Env, w.NS, "rpc-0-p2p")
	w.AwaitNode("rpc-0", func(n *v1alpha1.SeiNode) bool { return n.Spec.ExternalAddress == "" })
}

// The founders of a chain find each other although no load balancer leads to a node that is not in
// sync, and all of them restart together without losing each other.
func TestF7_CeremonyWithLoadBalancers_GatesOpenWithPeersInsideTheCluster(t *testing.T) {
	w := newPublishingWorld(t)
	w.chain()
	w.startLoadBalancers()
	snd := validators("val", 4)
	snd.Spec.Networking = &v1alpha1.NetworkingSpec{TCP: &v1alpha1.TCPNetworking{}}
	got := w.bringUp(snd)
	wantCondition(t, got, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, v1alpha1.ReasonCeremonyComplete)
	if got.Status.GenesisHash == "" {
		t.Error("status has no hash of the genesis, want one")
	}
	w.awaitNetworking("val", metav1.ConditionTrue, v1alpha1.ReasonP2PEndpointsApplied, "")
	uids := map[string]string{}
	for i := range 4 {
		n := w.Node(child("val", i))
		if len(n.Status.ResolvedPeers) != 3 || !insideOnly(n.Status.ResolvedPeers) || n.Spec.ExternalAddress != child("val", i)+"-p2p.demo.p2p.example:26656" {
			t.Errorf("%s announces %q and has peers %v", n.Name, n.Spec.ExternalAddress, n.Status.ResolvedPeers)
		}
		uids[n.Name] = string(w.podOf(n.Name).UID)
		w.Delete(w.podOf(n.Name))
	}
	for name, uid := range uids {
		envtest.WaitFor(t, w.Env, w.NS, name+"-0", func(p *corev1.Pod) bool { return p != nil && string(p.UID) != uid })
	}
	w.await("val", settled)
}

func (w fleets) podOf(node string) *corev1.Pod {
	w.T.Helper()
	pod := &corev1.Pod{}
	w.Get(node+"-0", pod)
	return pod
}

func TestF7_NodePort_NodesAnnounceThePortsOfTheirServices(t *testing.T) {
	w := newWorld(t)
	w.Platform.Gateway.P2PDomain, w.Platform.P2P.Type = "p2p.example", platform.P2PNodePort
	w.StartOperator()
	got := w.bringUp(reached("rpc", 2))
	w.awaitNetworking("rpc", metav1.ConditionTrue, v1alpha1.ReasonP2PEndpointsApplied, "")
	for i := range 2 {
		s := w.awaitService(child("rpc", i)+"-p2p", func(s *corev1.Service) bool { return s.Spec.Ports[0].NodePort != 0 })
		want := fmt.Sprintf("rpc-%d-p2p.pacific-1.p2p.example:%d", i, s.Spec.Ports[0].NodePort)
		if address := w.Node(child("rpc", i)).Spec.ExternalAddress; s.Spec.Type != corev1.ServiceTypeNodePort || address != want {
			t.Errorf("Service %s, address %q, want %q", s.Spec.Type, address, want)
		}
		if n := w.Node(child("rpc", i)); n.Generation != 1 {
			t.Errorf("%s was made without its address and changed later: generation %d", n.Name, n.Generation)
		}
	}
	if len(got.Status.NetworkingStatus.P2PEndpoints) != 2 {
		t.Errorf("endpoints %+v, want 2 P2PEndpoints", got.Status.NetworkingStatus.P2PEndpoints)
	}
}

// What a node announces is always the port that its Service has: a fixed one, another one after a
// change, and the one before when the new one is taken.
func TestF7_FixedNodePorts_AreWhatNodesAnnounce(t *testing.T) {
	w := newWorld(t)
	w.Platform.Gateway.P2PDomain, w.Platform.P2P.Type = "p2p.example", platform.P2PNodePort
	w.StartOperator()
	snd := reached("rpc", 2)
	snd.Spec.Networking.TCP.FirstNodePort = 31700
	w.bringUp(snd)
	announced := func(first int) {
		t.Helper()
		for i := range 2 {
			want := fmt.Sprintf("rpc-%d-p2p.pacific-1.p2p.example:%d", i, first+i)
			w.AwaitNode(child("rpc", i), func(n *v1alpha1.SeiNode) bool { return n.Spec.ExternalAddress == want })
			w.awaitService(child("rpc", i)+"-p2p", func(s *corev1.Service) bool { return int(s.Spec.Ports[0].NodePort) == first+i })
		}
	}
	announced(31700)
	w.edit("rpc", func(snd *v1alpha1.SeiNodeDeployment) { snd.Spec.Networking.TCP.FirstNodePort = 31710 })
	announced(31710)
	w.awaitNetworking("rpc", metav1.ConditionTrue, v1alpha1.ReasonP2PEndpointsApplied, "")

	other := reached("other", 1)
	other.Spec.Networking.TCP.FirstNodePort = 31711
	w.Create(other)
	w.awaitNetworking("other", metav1.ConditionFalse, v1alpha1.ReasonNetworkingFailed, "31711")
	w.edit("other", func(snd *v1alpha1.SeiNodeDeployment) { snd.Spec.Networking.TCP.FirstNodePort = 31720 })
	w.awaitNetworking("other", metav1.ConditionTrue, v1alpha1.ReasonP2PEndpointsApplied, "")
}

func TestF7_HostPort_ThePodHasThePortOfItsMachine(t *testing.T) {
	w := newWorld(t)
	w.Platform.Gateway.P2PDomain, w.Platform.P2P.Type = "p2p.example", platform.P2PHostPort
	w.StartOperator()
	w.bringUp(reached("rpc", 1))
	w.awaitNetworking("rpc", metav1.ConditionTrue, v1alpha1.ReasonP2PEndpointsApplied, "")
	pod := w.podOf("rpc-0")
	found := map[string]int32{}
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.HostPort != 0 {
				found[p.Name] = p.HostPort
			}
		}
	}
	if diff := cmp.Diff(map[string]int32{"p2p": 26656}, found); diff != "" {
		t.Errorf("host ports (-want +got):\n%s", diff)
	}
	if e := w.fleet("rpc").Status.NetworkingStatus.P2PEndpoints[0]; e.Address != pod.Status.HostIP+":26656" {
		t.Errorf("endpoint %+v of a pod on %s, want that address with port 26656", e, pod.Status.HostIP)
	}
}

// A fleet with fewer replicas than the one whose nodes it takes over: the others run on, and are not behind
// its Services.
func TestF9_RetainedNodesBeyondReplicas_AreNotInTheServices(t *testing.T) {
	w := newOperatedWorld(t)
	snd := rpc("rpc", 3)
	snd.Spec.DeletionPolicy = v1alpha1.VolumeRetain
	w.bringUp(snd)
	uid := w.podOf("rpc-2").UID
	w.Delete(w.fleet("rpc"))
	envtest.WaitGone[v1alpha1.SeiNodeDeployment](t, w.Env, w.NS, "rpc")

	w.bringUp(rpc("rpc", 2))
	left := func(p *corev1.Pod) bool { return p != nil && p.Labels[v1alpha1.LabelDeployment] == "" }
	if pod := envtest.WaitFor(t, w.Env, w.NS, "rpc-2-0", left); pod.UID != uid {
		t.Error("the retained node was restarted")
	}
	for _, name := range []string{"rpc-0", "rpc-1"} {
		if pod := w.podOf(name); pod.Labels[v1alpha1.LabelDeployment] != "rpc" {
			t.Errorf("%s left the Services: %v", name, pod.Labels)
		}
	}
	// A pod that is made again has the label of its template for a moment.
	w.Delete(w.podOf("rpc-2"))
	envtest.WaitFor(t, w.Env, w.NS, "rpc-2-0", func(p *corev1.Pod) bool { return left(p) && p.UID != uid })

	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas = 3 })
	w.await("rpc", settled)
	envtest.WaitFor(t, w.Env, w.NS, "rpc-2-0", func(p *corev1.Pod) bool { return p != nil && p.Labels[v1alpha1.LabelDeployment] == "rpc" })
}

// Two fleets of one name in two namespaces: the older one has the host name.
func TestF9_SameHostNameInTwoNamespaces_TheYoungerIsRefused(t *testing.T) {
	w := newWorld(t)
	w.Platform.Gateway.P2PDomain = "p2p.example"
	other := w.Namespace(t)
	w.Watched = []string{other}
	w.StartOperator()
	elder := reached("rpc", 1)
	elder.Namespace = other
	elder.Spec.Paused = true // no kubelet works in that namespace
	if err := w.Client.Create(t.Context(), elder); err != nil {
		t.Fatal(err)
	}
	w.Eventually("the next second", func() bool { return time.Now().Unix() > elder.CreationTimestamp.Unix() })
	w.bringUp(reached("rpc", 1))
	w.awaitNetworking("rpc", metav1.ConditionFalse, v1alpha1.ReasonHostTaken,
		"rpc-0-p2p.pacific-1.p2p.example is a host name of SeiNodeDeployment "+other+"/rpc, which is older: rename one of the two, or put $(NAMESPACE) into p2p.hostname")
	if n := w.Node("rpc-0"); n.Spec.ExternalAddress != "" {
		t.Errorf("the younger announces %s", n.Spec.ExternalAddress)
	}
	err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: w.NS, Name: "rpc-0-p2p"}, &corev1.Service{})
	if client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the younger has a Service: %v", err)
	}
	// The elder gives the name up.
	before := elder.DeepCopy()
	elder.Spec.Networking = nil
	if err := w.Client.Patch(t.Context(), elder, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	w.Eventually("the younger to have it", func() bool {
		w.forceWrite("rpc") // it looks by itself every minute
		return is(w.fleet("rpc"), v1alpha1.ConditionNetworkingReady, metav1.ConditionFalse, v1alpha1.ReasonP2PEndpointsPending)
	})
	w.AwaitNode("rpc-0", func(n *v1alpha1.SeiNode) bool {
		return n.Spec.ExternalAddress == "rpc-0-p2p.pacific-1.p2p.example:26656"
	})
}
