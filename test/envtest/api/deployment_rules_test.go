package api_test

import (
	"slices"
	"strings"
)

// fleet is the spec of a SeiNodeDeployment as YAML.
func fleet(template string, lines ...string) string {
	return strings.Join(lines, "\n") + "\ntemplate:\n  spec:\n" + indent(template)
}

func deploymentRules() []rule {
	const kind = "SeiNodeDeployment"
	validators := node("validator: {}")
	genesis := "genesis: {chainId: pacific-1}"
	chain := fleet(validators, genesis, "replicas: 4")
	strategy := func(value string) string {
		return fleet(node(full), "updateStrategy: {type: InPlace, inPlace: {maxUnavailable: "+value+"}}")
	}
	named := func(name string) []attempt { return []attempt{{name: name, spec: fleet(node(full))}} }
	return []rule{
		{
			kind: kind, message: "the name is longer than 49 characters",
			accepted: named(strings.Repeat("a", 49)), rejected: named(strings.Repeat("a", 50)),
		},
		{
			kind: kind, message: "the name must start with a letter",
			accepted: named("rpc"), rejected: slices.Concat(named("1rpc"), named("rpc.example")),
		},
		{
			kind: kind, path: "spec", message: "genesis needs a validator template",
			accepted: specs(chain), rejected: specs(fleet(node(full), genesis)),
		},
		{
			kind: kind, path: "spec", message: "genesis.chainId and template.spec.chainId must be the same",
			accepted: specs(chain), rejected: specs(fleet(validators, "genesis: {chainId: other-1}")),
		},
		{
			kind: kind, path: "spec", message: "genesis can be neither changed nor removed",
			accepted: slices.Concat(changes(chain, "template: {spec: {image: seid:v7}}"), changes(fleet(validators), genesis)),
			rejected: changes(chain, "genesis: null", "genesis: {stakingAmount: 5usei}", "genesis: {accounts: [{address: sei1"+strings.Repeat("q", 38)+", balance: 1usei}]}"),
		},
		{
			kind: kind, path: "spec", message: "replicas cannot change while a genesis is set",
			accepted: slices.Concat(changes(fleet(node(full), "replicas: 2"), "replicas: 5"), changes(chain, "paused: true")),
			rejected: changes(chain, "replicas: 5", "replicas: 1"),
		},
		{
			kind: kind, path: "spec", message: "a signing key in the template demands replicas: 1",
			accepted: specs(fleet(node(byoKeys)), fleet(node(byoKeys), "replicas: 1"), fleet(validators, "replicas: 3")),
			rejected: slices.Concat(specs(fleet(node(byoKeys), "replicas: 2")), changes(fleet(node(byoKeys)), "replicas: 2")),
		},
		{
			kind: kind, path: "spec", message: "genesis excludes template.spec.validator.signingKey",
			accepted: specs(chain, fleet(node(byoKeys))),
			rejected: specs(fleet(node(byoKeys), genesis)),
		},
		{
			kind: kind, path: "spec", message: "a seed template names one node key",
			accepted: specs(fleet(node(seed))), rejected: specs(fleet(node(seed), "replicas: 2")),
		},
		{
			kind: kind, path: "spec", message: "dataVolume.import in the template demands replicas: 1",
			accepted: specs(fleet(node(full, imported))), rejected: specs(fleet(node(full, imported), "replicas: 2")),
		},
		{
			kind: kind, path: "spec.updateStrategy.inPlace.maxUnavailable", message: "maxUnavailable is a number",
			accepted: specs(strategy("1"), strategy("100"), strategy("1%"), strategy("25%"), strategy("100%")),
			rejected: specs(strategy("0"), strategy("-1"), strategy("0%"), strategy("101%"), strategy("half"), strategy("2147483648")),
		},
	}
}
