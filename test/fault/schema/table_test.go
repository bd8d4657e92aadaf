package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// class says what is done with a field.
type class string

const (
	// walked: its values are given to a running object.
	walked class = "walked"
	// immutable: every change is refused, and the answer says that it cannot change.
	immutable class = "immutable"
	// refused: every value is refused or reported.
	refused class = "refused"
	// excluded: it is not walked, for a reason.
	excluded class = "excluded"
)

// note is what the schema does not report a field, or of several.
type note struct {
	// of is the path of a field, of a SeiNode's also for templates of fleets. A * stands for anything.
	of    string
	class class
	why   string
	// values are YAML lists: valid ones, in place of those that can be generated, and others that have to
	// be refused or reported.
	values, bad string
	// key is that of the entry, in a map.
	key string
	// with is a merge patch of a SeiNode's spec, or of a template's: what has to be beside it.
	with string
	// notNew says why the result is not compared with a new object: it depends on what was before.
	notNew string
	// stays says why the old value cannot be put back.
	stays string
}

func (n note) matches(path string) bool {
	parts := strings.Split(n.of, "*")
	rest, ok := strings.CutPrefix(path, parts[0])
	for i, part := range parts[1:] {
		if !ok {
			return false
		}
		if i == len(parts)-2 {
			return strings.HasSuffix(rest, part)
		}
		_, rest, ok = strings.Cut(rest, part)
	}
	return ok && rest == ""
}

// covers reports whether a note is about a field.
func (n note) covers(f field) bool {
	if path, is := f.inTemplate(); is && n.matches(path) {
		return true
	}
	return n.matches(f.path)
}

const firstState = "it says where the first state comes from, which a node that has one does not ask for again"

// notes are taken together for a field; of two that say the same, the first counts.
var notes = slices.Concat(ofVolumes, ofFleets, ofPods, ofChain, ofSnapshots, ofKeys)

var ofVolumes = []note{
	{of: "spec.chainId", class: immutable},
	{of: "spec.dataVolume.import.pvcName", class: immutable},
	{of: "spec.dataVolume.size", values: `[2Gi, 3Gi]`, bad: `["0", "1e99999999"]`, stays: "can only grow"},
	{of: "spec.dataVolume.storageClassName", class: immutable},
	{of: "spec.seed.nodeKey.*", class: immutable},
}

const neverRan = "a new one that is paused has made nothing yet"

var ofFleets = []note{
	{of: "spec.genesis.*", class: immutable},
	{of: "spec.replicas", values: `[1, 3]`},
	{of: "spec.paused", values: `[true]`, notNew: neverRan},
	{of: "spec.nodes[].paused", values: `[false, true]`, notNew: neverRan},
	{of: "spec.updateStrategy.inPlace.minReadySeconds", values: `[1, 0]`},
	{of: "spec.updateStrategy.inPlace.maxUnavailable", values: `[2, 50%]`, bad: `[0, 101, 0%]`},
	{of: "spec.networking.tcp.firstNodePort", values: `[30100, 30200]`},
	{of: "spec.nodes[].ordinal", values: `[0, 1, 99]`},
	{of: "spec.nodes[].externalAddress", values: `["a.example.com:26656", "b.example.com:26656"]`},
	{of: "spec.template.metadata.labels{}", key: "walk"},
	{of: "spec.template.spec.scheduling.affinity.*", class: excluded, why: "goes to the nodes as it is, where it is walked"},
	{of: "spec.template.spec.scheduling.topologySpreadConstraints[].*", class: excluded, why: "goes to the nodes as it is, where it is walked"},
}

var ofPods = []note{
	{of: "*resources.limits{}", key: "cpu", values: `["2", 1500m]`, bad: `["1e999999999"]`},
	{of: "*resources.requests{}", key: "memory", values: `[1Gi, 2Gi]`, bad: `["1e999999999"]`},
	{of: "*resources.claims[].name", class: refused},
	{of: "*resources.claims[].request", class: refused},
	{of: "*overrides{}", key: "evm.http_port", values: `["8547", "8548"]`, bad: `["not-a-port"]`},
	{of: "spec.sidecar.port", values: `[7778, 65535]`, bad: `[26657]`},
	{of: "spec.externalAddress", values: `["a.example.com:26656", "b.example.com:26656"]`},
	{of: "spec.scheduling.priorityClassName", values: `[walk-high, walk-low]`},
	{of: "spec.scheduling.nodeSelector{}", key: "kubernetes.io/os", values: `[linux]`},
	{of: "*.tolerations[].effect", values: `[NoSchedule, PreferNoSchedule]`},
	{of: "*.tolerations[].operator", values: `[Equal, Exists]`},
	{of: "*.tolerations[].tolerationSeconds", with: `{scheduling: {tolerations: [{key: a, operator: Exists, effect: NoExecute}]}}`},
	{of: "*.matchExpressions[].operator", values: `[In, NotIn]`},
	{of: "*.required*.matchFields*", class: excluded, why: "binds the pod to a machine, which has another name in each world"},
	{of: "*.matchFields[].operator", values: `[In, NotIn]`},
	{of: "*.matchFields[].key", values: `[metadata.name]`},
	{of: "*.nodeAffinityPolicy", values: `[Honor, Ignore]`},
	{of: "*.nodeTaintsPolicy", values: `[Honor, Ignore]`},
	{of: "spec.extraEnv[].name", values: `[WALK_A, WALK_B]`, bad: `[HOME, SEID_MODE, walk-a]`},
	{of: "spec.extraVolumes[].name", with: `{extraVolumes: [{name: walk, emptyDir: {}}]}`},
	{of: "spec.extraVolumes[].emptyDir.sizeLimit", values: `[1Gi, 2Gi]`},
	{of: "spec.extraVolumeMounts[].name", values: `[walk-a, walk-b]`, bad: `[walk-c]`},
	{of: "spec.extraVolumeMounts[].mountPath", values: `[/mnt/walk-a, /etc/ssl/certs/walk.pem]`, bad: `[/home/nonroot/.sei, /tmp]`},
	{of: "spec.extraVolumeMounts[]*", with: `{extraVolumes: [{name: walk-a, emptyDir: {}}, {name: walk-b, emptyDir: {}}]}`},
	{of: "*.whenUnsatisfiable", values: `[DoNotSchedule, ScheduleAnyway]`},
}

var ofChain = []note{
	{of: "spec.upgrades[].image", values: `["seid:b", "seid:c"]`},
	{of: "spec.peers[].static.addresses[]", values: `["3be6b24cf86a5938cce7d48f44fb6598465a9924@a.example.com:26656", "4be6b24cf86a5938cce7d48f44fb6598465a9924@b.example.com:26656"]`},
}

var ofSnapshots = []note{
	{of: "*.snapshot.rpcServers[]", values: `["c.example.com:26657", "https://d.example.com/sei"]`},
	{of: "spec.replayer.snapshot.stateSync", class: refused},
	{of: "spec.fullNode.snapshot.stateSync", with: `{fullNode: {snapshot: {stateSync: {}}}}`},
	{of: "spec.validator.snapshot.stateSync", with: `{validator: {snapshot: {stateSync: {}}}}`},
	{of: "spec.fullNode.snapshot.*", notNew: firstState},
	{of: "spec.validator.snapshot.*", notNew: firstState},
	{of: "spec.replayer.snapshot.*", notNew: firstState},
}

const keyring = "can be neither changed nor removed"

var ofKeys = []note{
	{of: "spec.validator.signingKey.*", class: immutable},
	{of: "spec.validator.nodeKey.*", class: immutable},
	{of: "spec.validator.operatorKeyring.secret.secretName", class: immutable},
	{of: "spec.validator.operatorKeyring.secret.passphraseSecretRef.*", class: immutable},
	{of: "spec.validator.operatorKeyring.secret.keyName", values: `[a, b]`, stays: keyring},
	{of: "spec.validator.genesisCeremony.*", class: excluded, why: "written by the controller of fleets"},
}

// about is what the notes say of a field.
func about(f field) note {
	sum := note{of: f.path}
	pick := func(into *string, from string) {
		if *into == "" {
			*into = from
		}
	}
	for _, n := range notes {
		if !n.covers(f) {
			continue
		}
		if sum.class == "" {
			sum.class = n.class
		}
		pick(&sum.why, n.why)
		pick(&sum.values, n.values)
		pick(&sum.bad, n.bad)
		pick(&sum.key, n.key)
		pick(&sum.with, n.with)
		pick(&sum.notNew, n.notNew)
		pick(&sum.stays, n.stays)
	}
	if f.kind == v1alpha1.KindSeiNodeTask {
		sum.class = immutable
	}
	if sum.class == "" {
		sum.class = walked
	}
	if sum.key == "" {
		sum.key = "walk"
	}
	return sum
}

// values are the valid and the odd ones of a field.
func (n note) valuesOf(t *testing.T, f field) (fit, unfit []any) {
	t.Helper()
	fit, unfit = valid(f.schema()), odd(f.schema())
	if n.values != "" {
		if f.schema().Pattern != "" && len(fit) > 0 {
			unfit = append(unfit, fit[0])
		}
		fit = decodeAny(t, n.values).([]any)
	}
	if n.bad != "" {
		unfit = append(unfit, decodeAny(t, n.bad).([]any)...)
	}
	return fit, unfit
}
