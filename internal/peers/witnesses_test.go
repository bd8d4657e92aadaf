package peers_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/peers"
	"github.com/sei-operator/sei-operator/internal/platform"
)

func synced(status metav1.ConditionStatus) func(*seiv1.SeiNode) {
	return func(n *seiv1.SeiNode) {
		n.Status.Conditions = []metav1.Condition{{Type: seiv1.ConditionInSync, Status: status, Reason: "x"}}
	}
}

// F8: only nodes in sync are asked, by their names inside the cluster.
func TestWitnesses_AreThePeersInSync(t *testing.T) {
	yes, no, unknown := synced(metav1.ConditionTrue), synced(metav1.ConditionFalse), synced(metav1.ConditionUnknown)
	validator := func(n *seiv1.SeiNode) { n.Spec.Validator = &seiv1.ValidatorSpec{} }
	seed := func(n *seiv1.SeiNode) { n.Spec.Seed = &seiv1.SeedSpec{} }
	outside := func(n *seiv1.SeiNode) { n.Spec.ExternalAddress = "lb.example:26656" }
	sibling := func(name string) string { return id("9") + "@" + name + "-0." + name + ".sei.svc.cluster.local:26656" }
	many := make([]client.Object, 0, 12)
	for i := range 12 {
		many = append(many, newNode("sei", fmt.Sprintf("m%02d", i), id("1"), yes))
	}
	cases := map[string]struct {
		sources  []seiv1.PeerSource
		nodes    []client.Object
		resolved []string
		want     []string
		waits    bool
	}{
		"no label source": {
			sources: []seiv1.PeerSource{static("x")}, nodes: []client.Object{newNode("sei", "b", id("b"), yes)}, resolved: []string{id("1") + "@a.example:26656"},
		},
		"one in sync, siblings at height 0": {
			nodes: []client.Object{newNode("sei", "b", id("b"), yes), newNode("sei", "c", id("c"), no), newNode("sei", "d", id("d"), unknown), newNode("sei", "e", "")},
			want:  []string{"b-0.b.sei.svc.cluster.local:26657"},
		},
		"behind a load balancer": {
			nodes: []client.Object{newNode("sei", "b", id("b"), yes, outside)}, want: []string{"b-0.b.sei.svc.cluster.local:26657"},
		},
		"those that answer clients first, no seeds": {
			nodes: []client.Object{newNode("sei", "a1", id("b"), yes, validator), newNode("sei", "b", id("b"), yes), newNode("sei", "c", id("c"), yes, seed)},
			want:  []string{"b-0.b.sei.svc.cluster.local:26657", "a1-0.a1.sei.svc.cluster.local:26657"},
		},
		"found by two sources": {
			sources: []seiv1.PeerSource{byLabel(""), byLabel("sei")}, nodes: []client.Object{newNode("sei", "b", id("b"), yes)},
			want: []string{"b-0.b.sei.svc.cluster.local:26657"},
		},
		"none in sync, others known": {
			nodes: []client.Object{newNode("sei", "b", id("9"), no)}, resolved: []string{sibling("b"), id("1") + "@a.example:30000", id("2") + "@a.example:30001"},
			want: []string{"a.example:26657"},
		},
		"none in sync, nobody else": {nodes: []client.Object{newNode("sei", "b", id("9"), no)}, resolved: []string{sibling("b")}, waits: true},
		"nobody at all":             {waits: true},
		"in sync where the platform does not let it look": {
			sources: []seiv1.PeerSource{byLabel("other")}, nodes: []client.Object{newNode("other", "b", id("b"), yes)}, waits: true,
		},
		"itself in sync": {nodes: []client.Object{newNode("sei", "me", id("a"), yes)}, waits: true},
		"not more than eight": {nodes: many, want: func() (list []string) {
			for i := range 8 {
				list = append(list, fmt.Sprintf("m%02d-0.m%02d.sei.svc.cluster.local:26657", i, i))
			}
			return list
		}()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sources := tc.sources
			if sources == nil {
				sources = []seiv1.PeerSource{byLabel("")}
			}
			node := newNode("sei", "me", id("a"), withPeers(sources...))
			got, waiting, err := peers.Witnesses(t.Context(), reader(t, nil, tc.nodes...), node, tc.resolved, platform.Default())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("servers (-want +got):\n%s", diff)
			}
			if (waiting != "") != tc.waits || tc.waits && !strings.Contains(waiting, "set rpcServers") {
				t.Errorf("waits for %q", waiting)
			}
		})
	}
}

func TestWitnesses_NodesCannotBeListed_IsAnError(t *testing.T) {
	node := newNode("sei", "me", "", withPeers(byLabel("")))
	if _, _, err := peers.Witnesses(t.Context(), reader(t, errors.New("broken")), node, nil, platform.Default()); err == nil {
		t.Error("no error")
	}
}
