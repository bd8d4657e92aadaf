package api_test

// upgraded is a full node with entries of upgrades.
func upgraded(entries string) string { return node(full, "upgrades: ["+entries+"]") }

// upgradeRules are the rules of spec.upgrades.
func upgradeRules() []rule {
	const two = "{name: v7, image: seid:v7}, {name: v8, image: seid:v8}"
	inForce := func(status, then string) attempt {
		return attempt{spec: upgraded(two), status: "upgrade: " + status, then: then}
	}
	const onlySecond, onlyFirst = "upgrades: [{name: v8, image: seid:v8}]", "upgrades: [{name: v7, image: seid:v7}]"
	return []rule{
		{
			kind: "SeiNode", path: "spec.upgrades", message: "two entries of upgrades have the same name",
			accepted: specs(upgraded(""), upgraded(two)),
			rejected: specs(upgraded("{name: v7, image: seid:v7}, {name: v7, image: seid:v8}")),
		},
		{
			kind: "SeiNode", path: "spec.upgrades", message: "the heights of upgrades do not rise",
			accepted: specs(
				upgraded("{name: v7, image: seid:v7, height: 5}, {name: v8, image: seid:v8, height: 6}"),
				upgraded("{name: v7, image: seid:v7, height: 5}, {name: v8, image: seid:v8}, {name: v9, image: seid:v9, height: 6}"),
			),
			rejected: specs(
				upgraded("{name: v7, image: seid:v7, height: 5}, {name: v8, image: seid:v8, height: 5}"),
				upgraded("{name: v7, image: seid:v7, height: 6}, {name: v8, image: seid:v8, height: 5}"),
				upgraded("{name: v7, image: seid:v7, height: 6}, {name: v8, image: seid:v8}, {name: v9, image: seid:v9, height: 5}"),
			),
		},
		{
			kind: "SeiNode", path: "spec.upgrades", message: "an entry of upgrades has the image of the entry before it",
			accepted: specs(upgraded(two), upgraded(two+", {name: v9, image: seid:v7}")),
			rejected: specs(upgraded("{name: v7, image: seid:v7}, {name: v8, image: seid:v7}")),
		},
		{
			kind: "SeiNode", path: "spec", message: "the first entry of upgrades has the image of spec.image",
			accepted: specs(upgraded(two), node(full)),
			rejected: specs(upgraded("{name: v7, image: seid:v6}")),
		},
		{
			kind: "SeiNode", message: "an entry of spec.upgrades that is in force cannot be removed",
			accepted: []attempt{
				inForce("{state: Scheduled}", onlySecond),
				inForce("{state: UpToDate, entry: v7, applied: {name: v7}}", onlyFirst),
				inForce("{state: UpToDate, entry: v8, applied: {name: v8}}", onlySecond),
				inForce("{state: UpToDate, entry: v7, applied: {name: v7}}", "upgrades: [{name: v7, image: seid:v7.1}]"),
				inForce("{state: UpToDate, applied: {name: v6}}", "upgrades: null"),
				inForce("{state: UpToDate, entry: v7, applied: {name: v7}}", "{image: seid:v7, upgrades: [{name: v8, image: seid:v8}]}"),
				inForce("{state: UpToDate, entry: v8, applied: {name: v8}}", "{image: seid:v8, upgrades: null}"),
				inForce("{state: MovedEarly, entry: v8, applied: {name: v7}}", onlyFirst),
			},
			rejected: []attempt{
				inForce("{state: UpToDate, entry: v7, applied: {name: v7}}", onlySecond),
				inForce("{state: UpToDate, entry: v7, applied: {name: v7}}", "upgrades: null"),
				inForce("{state: UpToDate, entry: v7, applied: {name: v7}}", "upgrades: [{name: v7.0, image: seid:v7}]"),
				inForce("{state: Moved, entry: v8, applied: {name: v7}}", onlyFirst),
				inForce("{state: Failed, entry: v8}", onlyFirst),
			},
		},
	}
}
