package sidecar_test

import "testing"

// F7: seid looks its external address up when it starts, and ends if there is no such name. A chain is
// founded all the same while its load balancers have no record yet.
func TestOneValidator_ExternalAddressWithoutARecord_MakesBlocks(t *testing.T) {
	// Names below .onion are in no DNS and not asked for (RFC 7686), so that nothing is sent.
	v := newNode(t, "announce-1", "v", "")
	ceremony([]*node{v}, map[string]string{"network.p2p.external_address": "v-0-p2p.announce-1.p2p.onion:26656"})
	v.start()
	v.awaitHeight(3)
}
