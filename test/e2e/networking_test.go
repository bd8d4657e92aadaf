package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// balanced is how many validators are behind load balancers. Two would wait for a third before their first block.
const balanced = 3

// Validators behind load balancers found a chain (F7). Their addresses are of a range that leads nowhere and their host
// names are in no name server, so nothing but the names inside the cluster can connect them. Then all of them are lost
// at once, and find each other again.
func TestFleet_FoundersBehindLoadBalancers_MakeBlocks(t *testing.T) {
	s := begin(t, "balanced")
	s.chain.id = "balanced-1"
	s.startLoadBalancers()
	founders := s.founders()
	founders.Spec.Replicas = balanced
	delete(founders.Spec.Template.Spec.Overrides, keyHaltHeight)
	founders.Spec.Networking = &v1alpha1.NetworkingSpec{TCP: &v1alpha1.TCPNetworking{}}
	s.create(founders)
	s.awaitHeight("v-0", 5)
	s.awaitFleet("v", v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
	s.awaitFleet("v", v1alpha1.ConditionNetworkingReady, metav1.ConditionTrue)
	for ordinal := range balanced {
		name := fmt.Sprintf("v-%d", ordinal)
		s.wantPeersInside(name)
		s.awaitPeers(name, 1)
	}
	for _, e := range s.fleet("v").Status.NetworkingStatus.P2PEndpoints {
		if !strings.HasPrefix(e.Address, balancerRange) || e.Hostname != e.SeiNodeName+"-p2p.balanced-1.p2p.demo.invalid:26656" {
			t.Errorf("endpoint %+v", e)
		}
	}

	height := s.height("v-0")
	for ordinal := range balanced {
		if err := s.Delete(t.Context(), s.pod(fmt.Sprintf("v-%d", ordinal))); err != nil {
			t.Fatal(err)
		}
	}
	s.awaitHeight("v-1", height+5)
	s.awaitFleet("v", v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
}

// wantPeersInside checks that a node announces an address outside and reaches its peers inside the cluster.
func (s *scenario) wantPeersInside(name string) {
	s.t.Helper()
	node := &v1alpha1.SeiNode{}
	s.mustGet(name, node)
	if node.Spec.ExternalAddress == "" || len(node.Status.ResolvedPeers) == 0 {
		s.t.Errorf("%s announces %q and has peers %v", name, node.Spec.ExternalAddress, node.Status.ResolvedPeers)
	}
	for _, peer := range node.Status.ResolvedPeers {
		if !strings.HasSuffix(peer, ".svc.cluster.local:26656") {
			s.t.Errorf("%s has the peer %s", name, peer)
		}
	}
}

// balancerRange is reserved for documentation (RFC 5737).
const balancerRange = "198.51.100."

// startLoadBalancers gives the scenario's Services of type LoadBalancer addresses until the test ends: a stand-in for
// the controller of a cloud.
func (s *scenario) startLoadBalancers() {
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	given := 0
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				given += s.giveAddresses(ctx, given)
			}
		}
	}()
	s.t.Cleanup(func() { cancel(); <-done })
}

// giveAddresses gives an address to every load balancer that has none, and returns how many it gave. What fails is done
// a second later.
func (s *scenario) giveAddresses(ctx context.Context, used int) (given int) {
	list := &corev1.ServiceList{}
	if err := s.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
		return 0
	}
	for i := range list.Items {
		service := &list.Items[i]
		if service.Spec.Type != corev1.ServiceTypeLoadBalancer || len(service.Status.LoadBalancer.Ingress) > 0 {
			continue
		}
		address := fmt.Sprintf("%s%d", balancerRange, used+given+1)
		service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: address}}
		if err := s.Status().Update(ctx, service); err == nil {
			given++
		}
	}
	return given
}
