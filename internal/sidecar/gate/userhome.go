package gate

import (
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// withUserHome has seid find nothing in the home of its user. Its EVM servers sign for everybody who asks
// (eth_sign, eth_sendTransaction) with the test keyring of ~/.sei, whatever --home says, and in a pod that is
// the home of the node, where a genesis ceremony leaves the account of the validator's operator.
func withUserHome(environment []string, node string) []string {
	if node == "" {
		return environment
	}
	environment = slices.DeleteFunc(environment, func(variable string) bool { return strings.HasPrefix(variable, "HOME=") })
	return append(environment, "HOME="+home.Dir(node).Tmp())
}
