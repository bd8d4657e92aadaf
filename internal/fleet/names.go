package fleet

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// ChildName is the name of the fleet's node with the given ordinal.
func ChildName(fleet string, ordinal int) string { return fmt.Sprintf("%s-%d", fleet, ordinal) }

// ParseChildName finds the fleet and the ordinal a node of this name would have.
func ParseChildName(name string) (fleet string, ordinal int, ok bool) {
	at := strings.LastIndexByte(name, '-')
	if at <= 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(name[at+1:])
	if err != nil || n < 0 || ChildName(name[:at], n) != name {
		return "", 0, false
	}
	return name[:at], n, true
}

// The names of what a fleet owns besides its nodes.
const (
	suffixGenesis  = "-genesis"
	suffixInternal = "-internal"
	suffixExternal = "-external"
	suffixP2P      = "-p2p"
)

// GenesisName is the name of the ConfigMap with the genesis of the fleet's chain.
func GenesisName(fleet string) string { return fleet + suffixGenesis }

// Of finds the fleet that a Service or route of this name would belong to.
func Of(name string) (fleet string, ok bool) {
	if node, p2p := strings.CutSuffix(name, suffixP2P); p2p {
		fleet, _, ok = ParseChildName(node)
		return fleet, ok
	}
	for _, suffix := range []string{suffixInternal, suffixExternal, "-evm", "-rpc", "-rest", "-grpc"} {
		if fleet, ok = strings.CutSuffix(name, suffix); ok && fleet != "" {
			return fleet, true
		}
	}
	return "", false
}

// selectorLabels find the fleet's nodes, pods and Services.
func selectorLabels(fleet string) map[string]string {
	return map[string]string{v1alpha1.LabelDeployment: fleet}
}

// Selector is the label selector of the fleet's pods, for the scale subresource.
func Selector(fleet string) string { return labels.FormatLabels(selectorLabels(fleet)) }
