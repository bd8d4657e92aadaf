package api_test

import (
	"slices"
	"strings"
)

// fleet is the spec of a SeiNodeDeployment as YAML.
func fleet(template string, lines ...string) string {
	return strings.Join(lines, "\n") + "\ntemplate:\n  spec:\n" + indent(template)
}

// keyed is a validator with keys in these Secrets.
func keyed(signing, nodeKey string) string {
	return node("validator: {signingKey: {secret: {secretName: " + signing + "}}, nodeKey: {secret: {secretName: " + nodeKey + "}}}")
}

// ringed is a validator with a keyring, its passphrase and the passphrase's key.
func ringed(keyring, passphrase, key string) string {
	return node("validator: {operatorKeyring: {secret: {secretName: " + keyring + ", passphraseSecretRef: {secretName: " + passphrase + ", key: " + key + "}}}}")
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
			accepted: changes(chain, "template: {spec: {image: seid:v7}}"),
			rejected: changes(chain, "genesis: null", "genesis: {stakingAmount: 5usei}", "genesis: {accounts: [{address: sei1"+strings.Repeat("q", 38)+", balance: 1usei}]}"),
		},
		{
			kind: kind, path: "spec", message: "genesis cannot be added later",
			accepted: slices.Concat(specs(chain), changes(chain, "paused: true"), changes(fleet(validators), "paused: true")),
			rejected: changes(fleet(validators), genesis),
		},
		{
			kind: kind, path: "spec", message: "replicas cannot change while a genesis is set",
			accepted: slices.Concat(changes(fleet(node(full), "replicas: 2"), "replicas: 5"), changes(chain, "paused: true")),
			rejected: changes(chain, "replicas: 5", "replicas: 1"),
		},
		{
			kind: kind, path: "spec", message: "a signing key without $(ORDINAL) demands replicas: 1",
			accepted: specs(fleet(node(byoKeys)), fleet(node(byoKeys), "replicas: 1"), fleet(validators, "replicas: 3"),
				fleet(keyed("sign-$(ORDINAL)", "id-$(ORDINAL)"), "replicas: 4"), fleet(keyed("$(ORDINAL)", "id-$(ORDINAL)"))),
			rejected: slices.Concat(specs(fleet(node(byoKeys), "replicas: 2"), fleet(keyed("sign", "id-$(ORDINAL)"), "replicas: 2"),
				fleet(keyed("sign-$(ordinal)", "id-$(ORDINAL)"), "replicas: 2")), changes(fleet(node(byoKeys)), "replicas: 2")),
		},
		{
			kind: kind, path: "spec", message: "a node key without $(ORDINAL) demands replicas: 1",
			accepted: specs(fleet(keyed("sign-$(ORDINAL)", "id-$(ORDINAL)"), "replicas: 4"), fleet(keyed("sign-$(ORDINAL)", "id"))),
			rejected: specs(fleet(keyed("sign-$(ORDINAL)", "id"), "replicas: 2")),
		},
		{
			kind: kind, path: "spec", message: "genesis excludes template.spec.validator.signingKey",
			accepted: specs(chain, fleet(node(byoKeys))),
			rejected: specs(fleet(node(byoKeys), genesis)),
		},
		{
			kind: kind, path: "spec", message: "a seed's node key without $(ORDINAL) demands replicas: 1",
			accepted: specs(fleet(node(seed)), fleet(node("seed: {nodeKey: {secret: {secretName: seed-$(ORDINAL)}}}"), "replicas: 3")),
			rejected: specs(fleet(node(seed), "replicas: 2")),
		},
		{
			kind: kind, path: "spec", message: "template.spec.externalAddress is the address of one node",
			accepted: specs(fleet(node(full, "externalAddress: a.example:26656")), fleet(node(full), "replicas: 3")),
			rejected: slices.Concat(specs(fleet(node(full, "externalAddress: a.example:26656"), "replicas: 2")),
				changes(fleet(node(full, "externalAddress: a.example:26656")), "replicas: 2"),
				changes(fleet(node(full), "replicas: 2"), "template: {spec: {externalAddress: \"a.example:26656\"}}")),
		},
		{
			kind: kind, path: "spec", message: "$(ORDINAL) means nothing in template.spec.image",
			accepted: specs(fleet(node(full, "sidecar: {image: side:v1}"))),
			rejected: specs(fleet("chainId: pacific-1\nimage: seid:v$(ORDINAL)\n"+full), fleet(node(full, "sidecar: {image: side:$(ORDINAL)}"))),
		},
		{
			kind: kind, path: "spec", message: "$(ORDINAL) means nothing in template.spec.externalAddress",
			accepted: specs(fleet(node(full, "externalAddress: a-0.example:26656"))),
			rejected: specs(fleet(node(full, "externalAddress: a-$(ORDINAL).example:26656"))),
		},
		{
			kind: kind, path: "spec", message: "$(ORDINAL) means nothing in template.spec.validator.operatorKeyring.secret.passphraseSecretRef.key",
			accepted: specs(fleet(ringed("ring-$(ORDINAL)", "pass-$(ORDINAL)", "p"), "replicas: 2")),
			rejected: specs(fleet(ringed("ring-$(ORDINAL)", "pass", "$(ORDINAL)"), "replicas: 2")),
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

// metadataRules keep a fleet from giving its nodes what is the operator's.
func metadataRules() []rule {
	const kind = "SeiNodeDeployment"
	metadata := func(texts ...string) []attempt {
		attempts := make([]attempt, 0, len(texts))
		for _, text := range texts {
			attempts = append(attempts, attempt{spec: "template:\n  metadata: {" + text + "}\n  spec:\n" + indent(node(full))})
		}
		return attempts
	}
	return []rule{
		{
			kind: kind, path: "spec.template.metadata.labels", message: "labels of sei.io are the operator's",
			accepted: metadata("labels: {team: core}"), rejected: metadata("labels: {sei.io/genesis: x}", "labels: {team: core, sei.io/role: seed}"),
		},
		{
			kind: kind, path: "spec.template.metadata.annotations", message: "annotations of sei.io are the operator's",
			accepted: metadata(`annotations: {team: core, sei.io/restart: "1", sei.io/retry: "1", sei.io/remove-first: "1"}`),
			rejected: metadata(`annotations: {sei.io/scaled-down: "true"}`, `annotations: {sei.io/restart: "1", sei.io/nodedeployment-uid: x}`),
		},
	}
}

// nodeSettingRules: what no node may override, a single node of a fleet may not either.
func nodeSettingRules() []rule {
	return signingRules("SeiNodeDeployment", "spec.nodes[].overrides", func(overrides string) string {
		return fleet(node(full), "nodes: [{ordinal: 0, "+overrides+"}]")
	})
}
