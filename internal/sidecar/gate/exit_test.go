package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

const refusedLine = "panic: precommit step: +2/3 prevoted for an invalid block validateBlock(): wrong Block.Header.AppHash.  Expected AA, got BB; relocking"

func TestRun_SaysWhyTheProcessEnded(t *testing.T) {
	v9 := &api.Upgrade{Name: "v9", Height: 1234, Info: "with a note"}
	for name, tc := range map[string]struct {
		script string
		want   api.Exit
	}{
		"panic": {
			`echo 'level=ERROR msg=first' ; echo 'panic: index out of range'; echo 'goroutine 1 [running]:'; exit 2`,
			api.Exit{Reason: api.ExitCrash, Code: 2, Message: "panic: index out of range"},
		},
		"error": {
			`echo 'time=x level=ERROR msg="first"'; echo 'Error: error starting node: no genesis' >&2; echo Usage: >&2; exit 1`,
			api.Exit{Reason: api.ExitCrash, Code: 1, Message: "Error: error starting node: no genesis"},
		},
		"error in JSON": {`echo '{"level":"ERROR","msg":"x"}'; exit 1`, api.Exit{Reason: api.ExitCrash, Code: 1, Message: `{"level":"ERROR","msg":"x"}`}},
		"upgrade": {
			`echo 'UPGRADE "v9" NEEDED at height: 1234: with a note' >&2; echo 'panic: UPGRADE "v9" NEEDED at height: 1234: with a note' >&2; exit 2`,
			api.Exit{Reason: api.ExitUpgradeNeeded, Code: 2, Message: `panic: UPGRADE "v9" NEEDED at height: 1234: with a note`, Upgrade: v9},
		},
		"the handler of an applied upgrade is missing": {
			`echo 'time=x level=ERROR msg="CONSENSUS FAILURE!!!" err="Wrong app version 0, upgrade handler is missing for 1.0.5beta new upgrade plan" stack=y';
			echo 'panic: Wrong app version 0, upgrade handler is missing for 1.0.5beta new upgrade plan [recovered, repanicked]' >&2; exit 2`,
			api.Exit{Reason: api.ExitUpgradeNeeded, Code: 2, Message: "panic: Wrong app version 0, upgrade handler is missing for 1.0.5beta new upgrade plan [recovered, repanicked]",
				Upgrade: &api.Upgrade{Name: "1.0.5beta new"}},
		},
		"updated too early": {
			`echo 'level=ERROR msg="BINARY UPDATED BEFORE TRIGGER! UPGRADE \"v9\" - in binary but not executed on chain"';
			echo 'panic: BINARY UPDATED BEFORE TRIGGER! UPGRADE "v9" - in binary but not executed on chain [recovered, repanicked]' >&2; exit 2`,
			api.Exit{Reason: api.ExitTooEarly, Code: 2, Message: `panic: BINARY UPDATED BEFORE TRIGGER! UPGRADE "v9" - in binary but not executed on chain [recovered, repanicked]`,
				Upgrade: &api.Upgrade{Name: "v9"}},
		},
		"the header of a block that was voted for is wrong": {
			`echo 'time=x level=ERROR msg="prevote step: consensus deems this block invalid; prevoting nil" height=42 round=0 err="validateBlock(): wrong Block.Header.AppHash.  Expected AA, got BB"';
			echo 'time=x level=ERROR msg="CONSENSUS FAILURE!!!" err="precommit step: +2/3 prevoted for an invalid block validateBlock(): wrong Block.Header.AppHash.  Expected AA, got BB; relocking" stack=y';
			echo 'panic: precommit step: +2/3 prevoted for an invalid block validateBlock(): wrong Block.Header.AppHash.  Expected AA, got BB; relocking' >&2; exit 2`,
			api.Exit{Reason: api.ExitCrash, Code: 2, Message: refusedLine, Divergence: &api.Divergence{Height: 42, Field: "app_hash", Message: refusedLine}},
		},
		"upgrade that is only scheduled": {`echo 'UPGRADE "v9" SCHEDULED at height: 1234: x'; exit 1`, api.Exit{Reason: api.ExitCrash, Code: 1}},
		"upgrade by its file": {
			`mkdir -p data; echo '{"name":"v9","height":1234,"info":"with a note"}' > data/upgrade-info.json; exit 2`,
			api.Exit{Reason: api.ExitUpgradeNeeded, Code: 2, Upgrade: v9},
		},
		"out of disk": {
			`echo 'panic: write /x/000012.log: no space left on device'; exit 2`,
			api.Exit{Reason: api.ExitOutOfDisk, Code: 2, Message: "panic: write /x/000012.log: no space left on device"},
		},
		"halt height":            {`echo 'level=INFO msg="halting node per configuration" height=7'; kill -INT $$`, api.Exit{Reason: api.ExitHaltHeight, Code: 130, Signal: "SIGINT"}},
		"by itself":              {`exit 0`, api.Exit{Reason: api.ExitStopped}},
		"signal from elsewhere":  {`kill -TERM $$`, api.Exit{Reason: api.ExitStopped, Code: 143, Signal: "SIGTERM"}},
		"killed":                 {`kill -9 $$`, api.Exit{Reason: api.ExitCrash, Code: 137, Signal: "SIGKILL", Message: "it was killed, which is how the kernel ends a process that uses too much memory"}},
		"last line without end":  {`printf 'panic: torn'; exit 2`, api.Exit{Reason: api.ExitCrash, Code: 2, Message: "panic: torn"}},
		"line without an end":    {`printf 'panic: '; head -c 100000 /dev/zero | tr '\0' x; exit 2`, api.Exit{Reason: api.ExitCrash, Code: 2, Message: "panic: " + strings.Repeat("x", maxMessage-7)}},
		"panic after a long one": {`head -c 100000 /dev/zero | tr '\0' x; echo; echo 'panic: y'; exit 2`, api.Exit{Reason: api.ExitCrash, Code: 2, Message: "panic: y"}},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := gateAt(t, opened)
			// An upgrade of long ago is none of this process.
			old := filepath.Join(g.Home, "data", "upgrade-info.json")
			if err := os.MkdirAll(filepath.Dir(old), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(old, []byte(`{"name":"v1","height":1}`), 0o600); err != nil {
				t.Fatal(err)
			}
			long := g.now().AddDate(0, 0, -1)
			if err := os.Chtimes(old, long, long); err != nil {
				t.Fatal(err)
			}
			_ = g.Run(t.Context(), []string{"sh", "-c", "cd " + g.Home + "; " + tc.script})
			got := record(t, g).LastExit
			if got == nil {
				t.Fatal("no exit was recorded")
			}
			if diff := cmp.Diff(tc.want, *got, cmpopts.IgnoreFields(api.Exit{}, "At")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
