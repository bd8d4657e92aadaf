package sidecar_test

import "github.com/sei-operator/sei-operator/internal/sidecar/configstate"

// The stand-in of configstate does not hear of config-apply.
func init() { //nolint:gochecknoinits // goes with the stand-in
	claim = func(n *node, hash string) {
		if err := configstate.Claim(n.home, hash); err != nil {
			n.t.Fatal(err)
		}
	}
}
