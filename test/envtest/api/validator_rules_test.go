package api_test

import "slices"

func validatorRules() []rule {
	const path = "spec.validator"
	ceremony := "genesisCeremony: {chainId: c, stakingAmount: 1usei, accountBalance: 2usei}"
	keys := func(sign, id string) string {
		return "signingKey: {secret: {secretName: " + sign + "}}, nodeKey: {secret: {secretName: " + id + "}}"
	}
	ring := func(name, pass string) string {
		return "operatorKeyring: {secret: {secretName: " + name + ", passphraseSecretRef: {secretName: " + pass + ", key: p}}}"
	}
	of := func(body string) string { return node("validator: {" + body + "}") }
	return []rule{
		{
			kind: "SeiNode", path: path, message: "signingKey and nodeKey come together",
			accepted: specs(of(""), node(byoKeys)),
			rejected: specs(of("signingKey: {secret: {secretName: a}}"), of("nodeKey: {secret: {secretName: a}}")),
		},
		{
			kind: "SeiNode", path: path, message: "signingKey excludes genesisCeremony",
			accepted: specs(of(ceremony), node(byoKeys)),
			rejected: specs(of(ceremony + ", " + keys("a", "b"))),
		},
		{
			kind: "SeiNode", path: path, message: "signingKey and nodeKey need different Secrets",
			accepted: specs(of(keys("a", "b"))),
			rejected: specs(of(keys("a", "a"))),
		},
		{
			kind: "SeiNode", path: path, message: "operatorKeyring needs Secrets of its own: neither its data nor its passphrase may sit in the signingKey's",
			accepted: specs(node(withRing), of("operatorKeyring: {}"), of(ring("a", "b"))),
			rejected: specs(of(keys("a", "b")+", "+ring("a", "c")), of(keys("a", "b")+", "+ring("c", "a"))),
		},
		{
			kind: "SeiNode", path: path, message: "operatorKeyring needs Secrets of its own: neither its data nor its passphrase may sit in the nodeKey's",
			accepted: specs(node(withRing)),
			rejected: specs(of(keys("a", "b")+", "+ring("b", "c")), of(keys("a", "b")+", "+ring("c", "b"))),
		},
		{
			kind: "SeiNode", path: path, message: "signingKey can be neither changed nor removed",
			accepted: slices.Concat(changes(node(byoKeys), "image: seid:v7"), changes(of(""), "validator: {"+keys("a", "b")+"}")),
			rejected: changes(node(byoKeys), "validator: {signingKey: {secret: {secretName: other}}}", "validator: {signingKey: null, nodeKey: null}"),
		},
		{
			kind: "SeiNode", path: path, message: "nodeKey can be neither changed nor removed",
			accepted: changes(node(byoKeys), "paused: true"),
			rejected: changes(node(byoKeys), "validator: {nodeKey: {secret: {secretName: other}}}", "validator: {signingKey: null, nodeKey: null}"),
		},
		{
			kind: "SeiNode", path: path, message: "operatorKeyring's Secrets can be neither changed nor removed",
			accepted: slices.Concat(changes(node(withRing), "validator: {operatorKeyring: {secret: {keyName: other}}}"),
				changes(node(byoKeys), "validator: {"+fileRing+"}"), changes(of("operatorKeyring: {}"), "validator: {operatorKeyring: null}")),
			rejected: changes(node(withRing), "validator: {operatorKeyring: null}", "validator: {operatorKeyring: {secret: null}}",
				"validator: {operatorKeyring: {secret: {secretName: other}}}", "validator: {operatorKeyring: {secret: {passphraseSecretRef: {key: q}}}}"),
		},
		{
			kind: "SeiNode", path: path + ".operatorKeyring.secret", message: "the keyring and its passphrase need different Secrets",
			accepted: specs(of(ring("a", "b"))),
			rejected: specs(of(ring("a", "a"))),
		},
	}
}
