package api_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// node is the spec of a SeiNode as YAML: what every one has, and lines of its own.
func node(lines ...string) string {
	return "chainId: pacific-1\nimage: seid:v6\n" + strings.Join(lines, "\n")
}

const (
	full      = `fullNode: {}`
	onePeer   = `peers: [{static: {addresses: ["0123456789abcdef0123456789abcdef01234567@peer.example:26656"]}}]`
	replayer  = `replayer: {snapshot: {s3: {targetHeight: 100}}}`
	seed      = `seed: {nodeKey: {secret: {secretName: id}}}`
	byoKeys   = `validator: {signingKey: {secret: {secretName: sign}}, nodeKey: {secret: {secretName: id}}}`
	fileRing  = `operatorKeyring: {secret: {secretName: ring, passphraseSecretRef: {secretName: pass, key: p}}}`
	withRing  = `validator: {signingKey: {secret: {secretName: sign}}, nodeKey: {secret: {secretName: id}}, ` + fileRing + `}`
	imported  = `dataVolume: {import: {pvcName: old-data}}`
	tooLarge  = 300 << 10
	peerStart = "0123456789abcdef0123456789abcdef01234567@"
)

func specs(texts ...string) []attempt {
	attempts := make([]attempt, 0, len(texts))
	for _, text := range texts {
		attempts = append(attempts, attempt{spec: text})
	}
	return attempts
}

// changes are updates from one spec by several merge patches.
func changes(spec string, patches ...string) []attempt {
	attempts := make([]attempt, 0, len(patches))
	for _, p := range patches {
		attempts = append(attempts, attempt{spec: spec, then: p})
	}
	return attempts
}

func nodeRules() []rule {
	return slices.Concat(nodeNameRules(), ordinalRules(), nodeSpecRules(), signingRules("SeiNode", "spec.overrides", func(o string) string { return node(full, o) }), podLabelRules(), podAdditionRules(), extraRules(), volumeRules(), peerRules(), snapshotRules(), validatorRules(), upgradeRules())
}

func nodeNameRules() []rule {
	named := func(name string) []attempt { return []attempt{{name: name, spec: node(full)}} }
	return []rule{
		{
			kind: "SeiNode", message: "the name is longer than 52 characters",
			accepted: named(strings.Repeat("a", 52)), rejected: named(strings.Repeat("a", 53)),
		},
		{
			kind: "SeiNode", message: "the name must start with a letter",
			accepted: named("rpc-0"), rejected: slices.Concat(named("0-rpc"), named("rpc.example")),
		},
	}
}

// ordinalRules: a single node has no ordinal.
func ordinalRules() []rule {
	return []rule{
		{
			kind: "SeiNode", message: "$(ORDINAL) means nothing in spec.validator.signingKey.secret.secretName",
			accepted: specs(node(byoKeys)), rejected: specs(keyed("sign-$(ORDINAL)", "id")),
		},
		{
			kind: "SeiNode", message: "$(ORDINAL) means nothing in nodeKey.secret.secretName",
			accepted: specs(node(byoKeys), node(seed)),
			rejected: specs(keyed("sign", "id-$(ORDINAL)"), node("seed: {nodeKey: {secret: {secretName: $(ORDINAL)}}}")),
		},
		{
			kind: "SeiNode", message: "$(ORDINAL) means nothing in the Secret names of spec.validator.operatorKeyring",
			accepted: specs(ringed("ring", "pass", "p")),
			rejected: specs(ringed("ring-$(ORDINAL)", "pass", "p"), ringed("ring", "pass-$(ORDINAL)", "p")),
		},
	}
}

func nodeSpecRules() []rule {
	return []rule{
		{
			kind: "SeiNode", path: "spec", message: "set exactly one of fullNode, archive",
			accepted: specs(node(full), node("archive: {}"), node(replayer, onePeer), node("validator: {}"), node(seed)),
			rejected: specs(node(), node(full, "archive: {}"), node(full, "archive: {}", "validator: {}")),
		},
		{
			kind: "SeiNode", path: "spec", message: "the mode cannot change",
			accepted: changes(node(full), "image: seid:v7", "fullNode: {snapshot: {stateSync: {}}}"),
			rejected: changes(node(full), "{fullNode: null, archive: {}}", "{fullNode: null, validator: {}}"),
		},
		{
			kind: "SeiNode", path: "spec", message: "a replayer needs peers",
			accepted: specs(node(replayer, onePeer)),
			rejected: specs(node(replayer), node(replayer, "peers: []")),
		},
		{
			kind: "SeiNode", path: "spec", message: "overrides hold more than 64 KiB together",
			accepted: specs(node(full, "overrides: {evm.http_port: \"8545\", \"config.toml:p2p.pex\": \"true\"}"),
				node(full, "overrides: {key: \""+strings.Repeat("v", 65533)+"\"}")),
			rejected: specs(node(full, "overrides: {key: \""+strings.Repeat("v", 65534)+"\"}"),
				node(full, "overrides: {key: \""+strings.Repeat("v", tooLarge)+"\"}"),
				node(full, "overrides:"+manyOverrides(1000, 300))),
		},
		{
			kind: "SeiNode", path: "spec.chainId", message: "chainId cannot change",
			accepted: changes(node(full), "chainId: pacific-1"),
			rejected: changes(node(full), "chainId: atlantic-2"),
		},
		{
			kind: "SeiNode", path: "spec.replayer", message: "a replayer starts from a stored snapshot",
			accepted: specs(node(replayer, onePeer)),
			rejected: specs(node("replayer: {snapshot: {stateSync: {}}}", onePeer)),
		},
		{
			kind: "SeiNode", path: "spec.replayer.resultExport", message: "resultExport is empty",
			accepted: specs(node("replayer: {snapshot: {s3: {targetHeight: 1}}, resultExport: {shadowResult: {canonicalRpc: \"http://rpc:26657\"}}}", onePeer)),
			rejected: specs(node("replayer: {snapshot: {s3: {targetHeight: 1}}, resultExport: {}}", onePeer)),
		},
		// Quantities with large exponents keep whoever compares them busy for minutes.
		resourceRule("spec.resources", "limits"), resourceRule("spec.resources", "requests"),
		resourceRule("spec.sidecar.resources", "limits"), resourceRule("spec.sidecar.resources", "requests"),
		{
			kind: "SeiNode", path: "spec.sidecar.port", message: "sidecar.port is one that seid listens on",
			accepted: specs(node(full, "sidecar: {port: 7778}"), node(full, "sidecar: {}")),
			rejected: portsOfSeid(),
		},
		{
			kind: "SeiNode", path: "spec.resources", message: "claims of resources are not given to the pod",
			accepted: specs(node(full, "resources: {limits: {cpu: 4}}"), node(full, "resources: {claims: []}")),
			rejected: specs(node(full, "resources: {claims: [{name: device}]}")),
		},
		{
			kind: "SeiNode", path: "spec.sidecar.resources", message: "claims of resources are not given to the pod",
			accepted: specs(node(full, "sidecar: {resources: {limits: {cpu: 4}}}"), node(full, "sidecar: {resources: {claims: []}}")),
			rejected: specs(node(full, "sidecar: {resources: {claims: [{name: device}]}}")),
		},
		{
			kind: "SeiNode", path: "spec.scheduling", message: "the weight of a preference in affinity",
			accepted: specs(weighted("nodeAffinity", "preference: {}", 1), weighted("podAffinity", podTerm, 100), weighted("podAntiAffinity", podTerm, 50)),
			rejected: specs(weighted("nodeAffinity", "preference: {}", 0), weighted("podAffinity", podTerm, 101), weighted("podAntiAffinity", podTerm, 1<<31)),
		},
		{
			kind: "SeiNode", path: "spec.scheduling", message: "maxSkew and minDomains of a topology spread constraint",
			accepted: specs(spread("maxSkew: 1"), spread("maxSkew: 5, minDomains: 3")),
			rejected: specs(spread("maxSkew: 0"), spread("maxSkew: 2147483648"), spread("maxSkew: 1, minDomains: 0"), spread("maxSkew: 1, minDomains: 2147483648")),
		},
		{
			kind: "SeiNode", path: "spec.seed", message: "nodeKey cannot change",
			accepted: changes(node(seed), "image: seid:v7"),
			rejected: changes(node(seed), "seed: {nodeKey: {secret: {secretName: other}}}"),
		},
	}
}

// signingRules refuse overrides that decide how a node signs, in the usual spellings; the operator
// refuses the others.
func signingRules(kind, path string, with func(overrides string) string) []rule {
	overrides := func(names ...string) []attempt {
		attempts := make([]attempt, 0, len(names))
		for _, name := range names {
			attempts = append(attempts, attempt{spec: with("overrides: {" + name + ": x, evm.http_port: \"1\"}")})
		}
		return attempts
	}
	return []rule{
		{
			kind: kind, path: path, message: "overrides cannot set the mode",
			accepted: overrides("storage.state_store.write_mode", "config.toml:p2p.pex"),
			rejected: overrides("mode", `"config.toml:mode"`, `"app.toml:sei.mode"`),
		},
		{
			kind: kind, path: path, message: "overrides cannot set what is below priv_validator",
			accepted: overrides("network.p2p.private_peer_ids"),
			rejected: overrides("priv_validator.key_file", "priv_validator.state_file", "priv_validator.listen_addr", `"config.toml:priv-validator.laddr"`),
		},
	}
}

// podLabelRules refuse what no StatefulSet could be applied with.
func podLabelRules() []rule {
	labels := func(pairs ...string) []attempt {
		attempts := make([]attempt, 0, len(pairs))
		for _, pair := range pairs {
			attempts = append(attempts, attempt{spec: node(full, "podLabels: {"+pair+"}")})
		}
		return attempts
	}
	long := func(n int) string { return strings.Repeat("a", n) }
	domain := strings.Join([]string{long(63), long(63), long(63), long(61)}, ".")
	return []rule{
		{
			kind: "SeiNode", path: "spec.podLabels", message: "a key of podLabels is not a label key",
			accepted: labels("", "a: x", "example.com/Team_1.x: x", long(63)+": x", domain+"/"+long(63)+": x"),
			rejected: labels("a b: x", "\"\": x", "-a: x", "a-: x", "a/b/c: x", "/a: x", "a/: x", "Example.com/a: x", "ä: x",
				long(64)+": x", domain+"a/a: x", "? "+long(tooLarge)+" : x", "ok: x, a b: x"),
		},
		{
			kind: "SeiNode", path: "spec.podLabels", message: "podLabels of sei.io are the operator's",
			accepted: labels("a: x", "not-sei.io/role: mine", "sei.io: x"),
			rejected: labels("sei.io/role: mine", "sei.io/nodedeployment: theirs", "a: x, sei.io/anything: x"),
		},
		{
			kind: "SeiNode", path: "spec.podLabels{}", message: "this is not a label value",
			accepted: labels("a: \"\"", "a: x", "a: A-b_c.1", "a: "+long(63)),
			rejected: labels("a: -x", "a: x-", "a: .x", "a: \"x y\"", "a: x/y", "a: ä", "a: \"x\\n\"", "a: \" \"", "a: x, b: -x"),
		},
	}
}

// podAdditionRules refuse annotations and pull secrets that no StatefulSet could be applied with, and those of the operator.
func podAdditionRules() []rule {
	with := func(field string, values ...string) []attempt {
		attempts := make([]attempt, 0, len(values))
		for _, value := range values {
			attempts = append(attempts, attempt{spec: node(full, field+": "+value)})
		}
		return attempts
	}
	annotations := func(pairs ...string) []attempt {
		for i := range pairs {
			pairs[i] = "{" + pairs[i] + "}"
		}
		return with("podAnnotations", pairs...)
	}
	long := strings.Repeat("a", 64)
	return []rule{
		{
			kind: "SeiNode", path: "spec.podAnnotations", message: "podAnnotations of sei.io are the operator's",
			accepted: annotations("a: x", "not-sei.io/role: mine", "sei.io: x"),
			rejected: annotations("sei.io/template-hash: x", "sei.io/restart: x", "a: x, sei.io/anything: x"),
		},
		{
			kind: "SeiNode", path: "spec.podAnnotations", message: "a key of podAnnotations is not an annotation key",
			accepted: annotations("", "a: \"any value: {}\"", "example.com/Team_1.x: x", "Example.com/a: x"),
			rejected: annotations("a b: x", "-a: x", "a/b/c: x", "/a: x", long+": x", "? "+strings.Repeat("a", tooLarge)+" : x", "ok: x, a b: x"),
		},
		{
			kind: "SeiNode", path: "spec.imagePullSecrets", message: "imagePullSecrets names a Secret twice",
			accepted: with("imagePullSecrets", "[]", "[{name: a}]", "[{name: a}, {name: b}]"),
			rejected: with("imagePullSecrets", "[{name: a}, {name: a}]", "[{name: a}, {name: b}, {name: a}]"),
		},
		{
			kind: "SeiNode", path: "spec.imagePullSecrets[].name", message: "this is not the name of a Secret",
			accepted: with("imagePullSecrets", "[{name: registry.example-1}]"),
			rejected: with("imagePullSecrets", "[{name: Registry}]", "[{name: a/b}]", "[{name: \"a b\"}]", "[{name: -a}]"),
		},
	}
}

const podTerm = "podAffinityTerm: {topologyKey: zone}"

// weighted is a node with one preference.
func weighted(affinity, term string, weight int) string {
	return node(full, fmt.Sprintf("scheduling: {affinity: {%s: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: %d, %s}]}}}", affinity, weight, term))
}

// spread is a node with one topology spread constraint.
func spread(numbers string) string {
	return node(full, "scheduling: {topologySpreadConstraints: [{"+numbers+", topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}")
}

// portsOfSeid are manifests whose sidecar listens on a port of seid, one for each of them.
func portsOfSeid() []attempt {
	ports := seid.AllPorts()
	taken := make([]attempt, 0, len(ports))
	for _, port := range ports {
		taken = append(taken, specs(node(full, fmt.Sprintf("sidecar: {port: %d}", port.Number)))...)
	}
	return taken
}

// resourceRule is about quantities that the operator could not even read, so
// that one such object would blind it for all others.
func resourceRule(path, field string) rule {
	of := func(list string) string {
		body := "resources: {" + field + ": {" + list + "}}"
		if path == "spec.sidecar.resources" {
			body = "sidecar: {" + body + "}"
		}
		return node(full, body)
	}
	return rule{
		kind: "SeiNode", path: path, message: field + " hold quantities of cpu",
		accepted: specs(of("cpu: 500m, memory: 2Gi, ephemeral-storage: 1e9"), of("cpu: 4"), of("")),
		rejected: specs(of("memory: 1e1.5"), of("memory: \"1E9999999999\""), of("nvidia.com/gpu: 1")),
	}
}

func manyOverrides(keys, size int) string {
	var b strings.Builder
	for i := range keys {
		fmt.Fprintf(&b, "\n  key.%d: %s", i, strings.Repeat("v", size))
	}
	return b.String()
}

func volumeRules() []rule {
	sized := node(full, "dataVolume: {size: 10Gi, storageClassName: fast}")
	return []rule{
		{
			kind: "SeiNode", path: "spec", message: "dataVolume.import cannot be removed",
			accepted: changes(node(full, imported), "image: seid:v7"),
			rejected: changes(node(full, imported), "dataVolume: null", "dataVolume: {import: null}", "dataVolume: {import: null, size: 1Gi}"),
		},
		{
			kind: "SeiNode", path: "spec", message: "dataVolume.import cannot be added later",
			accepted: slices.Concat(changes(node(full, imported), "image: seid:v7"), changes(node(full), "dataVolume: {size: 1Gi}")),
			rejected: slices.Concat(changes(node(full), imported), changes(sized, "dataVolume: {import: {pvcName: a}, size: null, storageClassName: null}")),
		},
		{
			kind: "SeiNode", path: "spec", message: "dataVolume.size can only grow",
			accepted: slices.Concat(changes(sized, "dataVolume: {size: 11Gi}", "dataVolume: {size: 10240Mi}"),
				changes(node(full), "dataVolume: {size: 1Gi}")),
			rejected: changes(sized, "dataVolume: {size: 9Gi}", "dataVolume: {size: 10Mi}", "dataVolume: {size: null}", "dataVolume: null"),
		},
		{
			kind: "SeiNode", path: "spec", message: "dataVolume.storageClassName cannot change",
			accepted: slices.Concat(changes(sized, "dataVolume: {size: 20Gi}"), changes(node(full), "dataVolume: {size: 20Gi}")),
			rejected: changes(sized, "dataVolume: {storageClassName: slow}", "dataVolume: {storageClassName: null}"),
		},
		{
			kind: "SeiNode", path: "spec", message: "dataVolume.storageClassName cannot be added later",
			accepted: slices.Concat(changes(sized, "dataVolume: {size: 20Gi}"), changes(node(full), "dataVolume: {size: 20Gi}")),
			rejected: slices.Concat(changes(node(full), "dataVolume: {storageClassName: fast}"),
				changes(node(full, "dataVolume: {size: 10Gi}"), "dataVolume: {storageClassName: fast}")),
		},
		{
			kind: "SeiNode", path: "spec.dataVolume", message: "an imported volume is taken as it is",
			accepted: specs(node(full, imported)),
			rejected: specs(node(full, "dataVolume: {import: {pvcName: a}, size: 1Gi}"),
				node(full, "dataVolume: {import: {pvcName: a}, storageClassName: fast}"),
				node(full, "dataVolume: {import: {pvcName: a}, deletionPolicy: Delete}"),
				node(full, "dataVolume: {import: {pvcName: a}, retention: {whenScaled: Delete}}")),
		},
		{
			kind: "SeiNode", path: "spec.dataVolume", message: "set retention or deletionPolicy",
			accepted: slices.Concat(
				specs(node(full, "dataVolume: {retention: {whenDeleted: Retain}}"), node(full, "dataVolume: {deletionPolicy: Retain}"),
					node(full, "dataVolume: {retention: {whenDeleted: Retain, whenScaled: Delete}}")),
				changes(node(full, "dataVolume: {deletionPolicy: Retain}"), "dataVolume: {deletionPolicy: null, retention: {whenScaled: Delete}}")),
			rejected: specs(node(full, "dataVolume: {deletionPolicy: Retain, retention: {whenDeleted: Retain}}")),
		},
		{
			kind: "SeiNode", path: "spec.dataVolume", message: "dataVolume.size must be a quantity of more than zero",
			accepted: specs(node(full, "dataVolume: {size: 1}"), node(full, "dataVolume: {size: 500Gi}"), node(full, "dataVolume: {size: 0.5Ti}")),
			rejected: specs(node(full, "dataVolume: {size: 0}"), node(full, "dataVolume: {size: 1e1.5}"), node(full, "dataVolume: {size: \"1E9999999999\"}"), node(full, "dataVolume: {size: -1Gi}"), node(full, "dataVolume: {size: 0Gi}")),
		},
		{
			kind: "SeiNode", path: "spec.dataVolume.import.pvcName", message: "pvcName cannot change",
			accepted: changes(node(full, imported), "paused: true"),
			rejected: changes(node(full, imported), "dataVolume: {import: {pvcName: other}}"),
		},
	}
}

func peerRules() []rule {
	peers := func(entry string) string { return node(full, "peers: ["+entry+"]") }
	static := func(address string) string { return peers("{static: {addresses: [\"" + address + "\"]}}") }
	return []rule{
		{
			kind: "SeiNode", path: "spec.peers[]", message: "a peer source is exactly one of",
			accepted: specs(peers("{label: {selector: {a: b}}}, {ec2Tags: {region: eu-central-1, tags: {a: b}}}"), node(full, onePeer)),
			rejected: specs(peers("{}"), peers("{label: {selector: {a: b}}, ec2Tags: {region: eu-central-1, tags: {a: b}}}")),
		},
		{
			kind: "SeiNode", path: "spec.peers[].static.addresses[]", message: "a peer address is nodeid@host:port",
			accepted: specs(static(peerStart+"10.0.0.1:26656"), static(peerStart+"[2001:db8::1]:26656"), static(strings.ToUpper(peerStart)+"host:1")),
			rejected: specs(static("host:26656"), static("abc@host:26656"), static(peerStart+"host"), static(peerStart+":26656"),
				static(peerStart+"a,b:26656"), static(peerStart+"2001:db8::1:26656"), static("")),
		},
	}
}

// snapshotRules are the same wherever a snapshot can be given.
func snapshotRules() []rule {
	var rules []rule
	for _, mode := range []string{"fullNode", "validator", "replayer"} {
		of := func(snapshot string) string { return node(mode+": {snapshot: {"+snapshot+"}}", onePeer) }
		accepted := specs(of("s3: {targetHeight: 5}, bootstrapImage: seid:v5"), of("s3: {}"))
		if mode != "replayer" {
			accepted = append(accepted, specs(of("stateSync: {}, rpcServers: [\"a:1\", \"https://b.example/sei\"], trustPeriod: 168h"))...)
		}
		rules = append(rules, rule{
			kind: "SeiNode", path: "spec." + mode + ".snapshot", message: "a snapshot is exactly one of s3 and stateSync",
			accepted: accepted,
			rejected: specs(of(""), of("s3: {targetHeight: 5}, stateSync: {}")),
		}, rule{
			kind: "SeiNode", path: "spec." + mode + ".snapshot", message: "bootstrapImage needs s3",
			accepted: specs(of("s3: {targetHeight: 5}, bootstrapImage: seid:v5")),
			rejected: specs(of("stateSync: {}, bootstrapImage: seid:v5"), of("s3: {}, bootstrapImage: seid:v5")),
		})
	}
	for _, mode := range []string{"fullNode", "archive"} {
		of := func(generation string) string { return node(mode + ": {snapshotGeneration: {" + generation + "}}") }
		rules = append(rules, rule{
			kind: "SeiNode", path: "spec." + mode + ".snapshotGeneration", message: "snapshotGeneration is empty",
			accepted: specs(of("tendermint: {keepRecent: 1}")),
			rejected: specs(of("")),
		}, rule{
			kind: "SeiNode", path: "spec." + mode + ".snapshotGeneration.tendermint", message: "publish needs keepRecent of at least 2",
			accepted: specs(of("tendermint: {keepRecent: 2, publish: {}}"), of("tendermint: {keepRecent: 2, publish: {keep: 1}}"), of("tendermint: {keepRecent: 1}")),
			rejected: specs(of("tendermint: {keepRecent: 1, publish: {}}")),
		})
	}
	return rules
}
