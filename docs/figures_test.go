package docs_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// figures are what pages say of constants: the sentence, in which the figure is in braces, and the
// constant it has to be equal to, or what is computed from constants of the files, which a space
// separates.
var figures = []struct{ page, says, file, constant string }{
	{"how-to/waiting", "A step that is tried again after {5 minutes} is Stalled", "internal/node/reasons.go", "retryAfter"},
	{"explanation/plans", "any other, on a node that was up | tried again after {5 minutes}", "internal/node/reasons.go", "retryAfter"},
	{"explanation/plans", "`mark-ready`, on a node that was up | tried again after {30 seconds}", "internal/node/reasons.go", "retryGateAfter"},
	{"explanation/plans", "(they wait for people) | {1 hour}", "internal/task/registry.go", "inputTimeout"},
	{"explanation/plans", "`deploy-bootstrap-job` | {15 minutes}", "internal/task/registry.go", "applyTimeout"},
	{"explanation/plans", "the sidecar's tasks except the next | {30 minutes}", "internal/task/registry.go", "podTimeout"},
	{"explanation/plans", "`snapshot-restore` | {24 hours}", "internal/task/registry.go", "downloadTimeout"},
	{"explanation/plans", "`await-bootstrap-complete` | {7 days}", "internal/task/registry.go", "replayTimeout"},
	{"explanation/plans", "is repeated after 5 to {30 seconds}", "internal/plan/executor.go", "lastBackoff"},
	{"how-to/sidecar-access", "valid for {90 days}", "internal/certificates/issue.go", "Lifetime"},
	{"explanation/rollout-safety", "and answers for {5} more seconds", "internal/render/lifecycle.go", "drainSeconds"},
	{
		"explanation/rollout-safety", "the readiness probe fail for {20 seconds} before it ends `seid`",
		"internal/render/lifecycle.go internal/render/probes.go", "(readinessPeriod*readinessFailures + drainSeconds) * time.Second",
	},
	{"explanation/operator-outage", "`sidecar.standingPermission` ({24 h}", "internal/platform/defaults.go", "defaultPermission"},
	{"how-to/peers", "every {5 minutes}, in the background", "internal/peers/cache.go", "DefaultTTL"},
	{"how-to/traces", "is asked about every {30 seconds}", "internal/controller/node/reconciler.go", "steadyInterval"},
	{"how-to/install", "and every {10 minutes}, the operator compares", "internal/manager/definitions.go", "definitionsInterval"},
	{"how-to/kubectl-sei", "this machine against the API server ({2 s})", "internal/cli/check_clock.go", "skewAllowed"},
	{"how-to/tasks", "is tried again after {5 seconds}, then later", "internal/task/nodetask/sidecar.go", "firstBackoff"},
	{"how-to/tasks", "this by {30 seconds} at most", "internal/operation/release.go", "CancelPatience"},
	{"how-to/genesis-ceremony", "`maxCeremonyDuration` ({15 minutes}", "internal/fleet/ceremony.go", "defaultCeremonyDuration"},
	{"explanation/upgrades", "`volumeSnapshots.timeout` ({2 minutes})", "internal/platform/defaults.go", "defaultSnapshotTimeout"},
	{"explanation/upgrades", "the pace of its last {10 000} blocks", "internal/sidecar/look/estimate.go", "paceBlocks"},
	{"explanation/sidecar-authentication", "an answer is read up to {64 KiB}", "internal/sidecar/client/remote.go", "maxSmall"},
	{"explanation/sidecar-authentication", "one about a task up to {8 MiB}", "internal/sidecar/client/remote.go", "maxTask"},
	{"reference/platform-config", "`snapshots.uploadTimeout` | `{2h}`", "internal/platform/defaults.go", "defaultUploadTimeout"},
	{"reference/platform-config", "`sidecar.standingPermission` | `{24h}`", "internal/platform/defaults.go", "defaultPermission"},
	{"reference/sidecar-api", "Waits longer than {25 s} are cut", "internal/sidecar/server/listen.go", "maxWait"},
	{"reference/sidecar-api", "the body is larger than {4 MiB}", "internal/sidecar/server/tasks.go", "maxBody"},
	{"reference/node-document", "answers within {1.5 s}", "internal/sidecar/look/look.go", "Bound"},
	{"reference/node-document", "the sidecar looks every {15 s}", "internal/sidecar/look/look.go", "Every"},
	{"reference/node-document", "judged by its last answer for up to {4 s}", "internal/sidecar/look/look.go", "askBound"},
	{"reference/node-document", "no port is open yet. `stalled` after {10 min}", "internal/sidecar/look/judge.go", "startStall"},
	{"reference/node-document", "`stalled` after {2 min} without any", "internal/sidecar/look/judge.go", "stateSyncStall"},
	{"reference/sidecar-api", "each within {10 minutes} and not by SIGTERM", "internal/sidecar/engine/crashes.go", "wentWell"},
	{"reference/gate", "caller for {15 seconds} opens the gate", "internal/sidecar/opening/standing.go", "Silence"},
	{"reference/gate", "waits up to {10 seconds} for it", "internal/sidecar/opening/conditions.go", "defaultKeyWait"},
	{"reference/gate", "needs `seid` not to run waits for up to {30 seconds}", "internal/sidecar/handlers/lifecycle/running.go", "startDelay"},
	{"reference/gate", "nobody has answered three times within {2 seconds} each", "internal/sidecar/gate/announce.go", "lookupTimeout"},
	{"reference/gate", "{16 KiB} of room for `process.json`", "internal/sidecar/supervision/reserve.go", "reserveSize"},
	{"reference/gate", "wrote to its log or used {5 %} of a CPU", "internal/sidecar/gate/child.go", "busy"},
	{"reference/gate", "used 5 % of a CPU, to {10 seconds}", "internal/sidecar/gate/gate.go", "noteEvery"},
	{"reference/sidecar-api", "a new key (at most every {5 seconds})", "internal/sidecar/server/auth/cluster.go", "pauseWithKeys"},
	{"reference/sidecar-tasks", "is more than {1000} blocks behind", "internal/sidecar/handlers/configfiles/witnesses.go", "maxBehind"},
	{"reference/sidecar-tasks", "zstd windows by {8 MiB}", "internal/sidecar/handlers/archive/compression.go", "maxWindow"},
	{"reference/sidecar-tasks", "It looks every {15 s} for a snapshot", "internal/sidecar/handlers/snapshot/publisher.go", "publishEvery"},
	{"reference/sidecar-tasks", "tried again after {5 min}", "internal/sidecar/handlers/snapshot/publisher.go", "retryPublish"},
	{"reference/sidecar-tasks", "in no block after {60 s}", "internal/sidecar/handlers/gov/tasks.go", "defaultInclusion"},
	{"reference/reasons", "at least {10 seconds} and at most", "internal/task/trouble.go", "shortestProof"},
	{"reference/reasons", "seconds and at most {2 minutes}", "internal/task/trouble.go", "longestProof"},
	{
		"reference/reasons", "Wait: {20 seconds}.",
		"internal/render/lifecycle.go internal/render/probes.go", "(readinessPeriod*readinessFailures + drainSeconds) * time.Second",
	},
	{"reference/reasons", "or has not answered within {5 seconds}; until then", "internal/controller/node/looks.go", "lookTimeout"},
	{"reference/reasons", "the gate stays closed. It is tried again after {5 minutes}", "internal/node/reasons.go", "retryAfter"},
	{"reference/reasons", "It is retried every {5 minutes}", "internal/sidecar/handlers/snapshot/publisher.go", "retryPublish"},
	{"../CONTRIBUTING", "waits for a sidecar's document for {250 ms}", "internal/controller/node/looks.go", "lookPatience"},
	{"../CONTRIBUTING", "beside the workers and ends after {5 s}", "internal/controller/node/looks.go", "lookTimeout"},
	{"../CONTRIBUTING", "each such call is bounded by {2 s}", "internal/manager/manager.go", "sidecarTimeout"},
	{
		"../CONTRIBUTING", "or {2.5 s} where it waits for a task to end",
		"internal/manager/manager.go internal/task/sidecartask/sidecartask.go", "sidecarTimeout + quickWait",
	},
	{"../CONTRIBUTING", "Peer sources are given {2 s}", "internal/peers/cache.go", "DefaultPatience"},
	{"../CONTRIBUTING", "if it comes within {250 ms}", "internal/controller/node/looks.go", "lookPatience"},
	{"../CONTRIBUTING", "is written when that has lasted for {10 seconds}", "internal/controller/node/unwritten.go", "writtenAfter"},
	{"../CONTRIBUTING", "or after {3 seconds} that it is not yet", "internal/controller/node/unwritten.go", "endWrittenAfter"},
	{"../CONTRIBUTING", "settled node is asked every {30 seconds}", "internal/controller/node/reconciler.go", "steadyInterval"},
}

var figureInBraces = regexp.MustCompile(`\{([^}]+)\}`)

func TestFigures_AreThoseOfTheCode(t *testing.T) {
	for _, f := range figures {
		page := filepath.Join("docs", f.page+".md")
		figure := figureInBraces.FindStringSubmatch(f.says)[1]
		sentence := figureInBraces.ReplaceAllString(f.says, "$1")
		if !strings.Contains(strings.Join(strings.Fields(read(t, page)), " "), sentence) {
			t.Errorf("%s does not say: %s", page, sentence)
		}
		says, err := quantity(figure)
		if err != nil {
			t.Errorf("%s: %v", page, err)
			continue
		}
		is := valueOf(t, f.file, f.constant)
		if !constant.Compare(says, token.EQL, is) {
			t.Errorf("%s says %s, and %s in %s is %s", page, figure, f.constant, f.file, is)
		}
	}
}

var units = map[string]string{
	"": "1", "ms": "1e6", "s": "1e9", "seconds": "1e9", "min": "60e9", "minutes": "60e9",
	"h": "3600e9", "hour": "3600e9", "hours": "3600e9", "days": "86400e9", "KiB": "1024", "MiB": "1048576", "%": "1e-2",
}

var quantityParts = regexp.MustCompile(`^([0-9][0-9. ]*?) ?([A-Za-z%]*)$`)

// quantity reads a figure as pages write it: durations in nanoseconds, sizes in bytes.
func quantity(figure string) (constant.Value, error) {
	parts := quantityParts.FindStringSubmatch(figure)
	if parts == nil || units[parts[2]] == "" {
		return nil, fmt.Errorf("%q is no figure of a unit that is known", figure)
	}
	number := constant.MakeFromLiteral(strings.ReplaceAll(parts[1], " ", ""), token.FLOAT, 0)
	return constant.BinaryOp(number, token.MUL, constant.MakeFromLiteral(units[parts[2]], token.FLOAT, 0)), nil
}

// valueOf is the value of a constant of a file, or of an expression of constants of several.
func valueOf(t *testing.T, paths, expression string) constant.Value {
	t.Helper()
	constants := map[string]ast.Expr{}
	for path := range strings.FieldsSeq(paths) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				for i := range spec.Values {
					constants[spec.Names[i].Name] = spec.Values[i]
				}
			}
			return true
		})
	}
	e, err := parser.ParseExpr(expression)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && constants[name.Name] == nil {
			t.Fatalf("%s has no constant %s", paths, name.Name)
		}
		_, unit := n.(*ast.SelectorExpr)
		return !unit
	})
	return evaluate(t, constants, e)
}

var durations = map[string]string{"Millisecond": "ms", "Second": "s", "Minute": "min", "Hour": "h"}

// evaluate computes what constants of ours are made of: numbers, units of package time, sums,
// products, shifts and other constants of the same files.
func evaluate(t *testing.T, constants map[string]ast.Expr, e ast.Expr) constant.Value {
	t.Helper()
	switch e := e.(type) {
	case *ast.ParenExpr:
		return evaluate(t, constants, e.X)
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.SelectorExpr:
		return constant.MakeFromLiteral(units[durations[e.Sel.Name]], token.FLOAT, 0)
	case *ast.BinaryExpr:
		x, y := evaluate(t, constants, e.X), evaluate(t, constants, e.Y)
		if e.Op == token.SHL {
			bits, _ := constant.Uint64Val(y)
			return constant.Shift(x, token.SHL, uint(bits))
		}
		return constant.BinaryOp(x, e.Op, y)
	case *ast.Ident:
		if other := constants[e.Name]; other != nil {
			return evaluate(t, constants, other)
		}
	}
	t.Fatalf("a constant is made of %T, which is not known here", e)
	return nil
}
