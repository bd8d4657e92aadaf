package api_test

import "strings"

// task is the spec of a SeiNodeTask as YAML.
func task(kind string, lines ...string) string {
	return "kind: " + kind + "\ntarget: {nodeRef: {name: rpc-0}}\n" + strings.Join(lines, "\n")
}

// fleetTask is a task for a fleet instead of one node, and selectTask one with a selector.
func fleetTask(kind string, lines ...string) string {
	return strings.Replace(task(kind, lines...), "nodeRef: {name: rpc-0}", "fleetRef: {name: rpc}", 1)
}

func selectTask(kind string, lines ...string) string {
	return strings.Replace(task(kind, lines...), "nodeRef: {name: rpc-0}", "selector: {sei.io/chain: pacific-1}", 1)
}

const tx = "chainId: pacific-1, fees: 20000usei, gas: 200000, "

// payloads are the payload of every kind.
func payloads() map[string]string {
	return map[string]string{
		"GovSoftwareUpgrade": "govSoftwareUpgrade: {" + tx + "title: t, description: d, upgradeName: v7, upgradeHeight: 9, initialDeposit: 1usei}",
		"GovVote":            "govVote: {" + tx + "proposalId: 1, option: \"yes\"}",
		"GovParamChange":     "govParamChange: {" + tx + "title: t, description: d, changes: [{subspace: gov, key: k, value: 1}], initialDeposit: 1usei}",
		"AwaitCondition":     "awaitCondition: {height: {targetHeight: 9}}",
		"UpdateNodeImage":    "updateNodeImage: {image: seid:v7}",
		"AwaitNodesAtHeight": "awaitNodesAtHeight: {targetHeight: 9}",
		"RestartSeid":        "restartSeid: {}",
		"MarkReady":          "markReady: {}",
		"StateSync":          "stateSync: {}",
	}
}

func taskRules() []rule {
	const kind = "SeiNodeTask"
	restart := task("RestartSeid", "restartSeid: {}")
	needs := make([]rule, 0, len(payloads()))
	for name, payload := range payloads() {
		other := "markReady: {}"
		if name == "MarkReady" {
			other = "restartSeid: {}"
		}
		needs = append(needs, rule{
			kind: kind, path: "spec", message: "kind " + name + " needs the payload",
			accepted: specs(task(name, payload)), rejected: specs(task(name, other)),
		})
	}
	fleetOf := func(kinds ...string) (manifests []string) {
		for _, name := range kinds {
			manifests = append(manifests, fleetTask(name, payloads()[name]))
		}
		return manifests
	}
	forFleets := specs(fleetOf("RestartSeid", "StateSync", "AwaitCondition", "GovVote")...)
	return append(needs, []rule{
		{
			kind: kind, path: "spec.target", message: "set exactly one of target.nodeRef (a SeiNode), target.fleetRef",
			accepted: append(specs(restart, selectTask("AwaitNodesAtHeight", payloads()["AwaitNodesAtHeight"])), forFleets...),
			rejected: specs(
				"kind: RestartSeid\ntarget: {}\nrestartSeid: {}",
				"kind: RestartSeid\ntarget: {requirePhase: Running}\nrestartSeid: {}",
				"kind: RestartSeid\ntarget: {nodeRef: {name: rpc-0}, fleetRef: {name: rpc}}\nrestartSeid: {}",
				"kind: AwaitNodesAtHeight\ntarget: {nodeRef: {name: rpc-0}, selector: {a: b}}\nawaitNodesAtHeight: {targetHeight: 9}",
			),
		},
		{
			kind: kind, path: "spec", message: "target.fleetRef is not for kind UpdateNodeImage: change spec.template.spec.image",
			accepted: append(specs(task("UpdateNodeImage", payloads()["UpdateNodeImage"])), forFleets...), rejected: specs(fleetOf("UpdateNodeImage")...),
		},
		{
			kind: kind, path: "spec", message: "target.fleetRef is not for proposals",
			accepted: forFleets, rejected: specs(fleetOf("GovSoftwareUpgrade", "GovParamChange")...),
		},
		{kind: kind, path: "spec", message: "target.fleetRef is not for kind MarkReady", accepted: forFleets, rejected: specs(fleetOf("MarkReady")...)},
		{
			kind: kind, path: "spec", message: "target.fleetRef is not for kind AwaitNodesAtHeight: select the nodes",
			accepted: forFleets, rejected: specs(fleetOf("AwaitNodesAtHeight")...),
		},
		{
			kind: kind, path: "spec", message: "target.selector is only for kind AwaitNodesAtHeight",
			accepted: specs(selectTask("AwaitNodesAtHeight", payloads()["AwaitNodesAtHeight"])),
			rejected: specs(selectTask("RestartSeid", "restartSeid: {}"), selectTask("GovVote", payloads()["GovVote"])),
		},
		{
			kind: kind, path: "spec", message: "a task cannot change",
			accepted: changes(restart, "kind: RestartSeid"),
			rejected: changes(restart, "timeoutSeconds: 5", "{kind: MarkReady, restartSeid: null, markReady: {}}", "target: {nodeRef: {name: rpc-1}}"),
		},
		{
			kind: kind, path: "spec", message: "set exactly one payload",
			accepted: specs(restart),
			rejected: specs(task("RestartSeid"), task("RestartSeid", "restartSeid: {}", "markReady: {}")),
		},
		{
			kind: kind, path: "spec.awaitCondition", message: "wait for exactly one of height and catchingUp",
			accepted: specs(task("AwaitCondition", "awaitCondition: {catchingUp: {}}"), task("AwaitCondition", payloads()["AwaitCondition"])),
			rejected: specs(task("AwaitCondition", "awaitCondition: {}"), task("AwaitCondition", "awaitCondition: {height: {targetHeight: 9}, catchingUp: {}}")),
		},
	}...)
}
