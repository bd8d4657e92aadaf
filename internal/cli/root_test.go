package cli

import (
	"strings"
	"testing"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

func TestRoot_Help_ListsEveryCommand(t *testing.T) {
	p := newPlugin(t)
	help := p.mustRun(t, "--help")
	for _, add := range commands() {
		if name := add(p.Factory).Name(); !strings.Contains(help, "\n  "+name+" ") {
			t.Errorf("the help has no line for %s:\n%s", name, help)
		}
	}
	if !strings.Contains(help, "kubectl sei [command]") && len(commands()) > 0 {
		t.Errorf("the help does not call the plugin as users do:\n%s", help)
	}
}

func TestRoot_EveryCommand_SaysWhatItDoesAndShowsAnExample(t *testing.T) {
	walk(NewRoot(newPlugin(t).Factory, ""), func(c commandPage) {
		if c.Short == "" {
			t.Errorf("%s has no short description", c.path)
		}
		if c.Runnable() && c.Example == "" && c.HasParent() {
			t.Errorf("%s has no example", c.path)
		}
	})
}

func TestRoot_EveryCommand_PrintsForPrograms(t *testing.T) {
	walk(NewRoot(newPlugin(t).Factory, ""), func(c commandPage) {
		if c.Runnable() && c.HasParent() && c.Flags().Lookup("output") == nil {
			t.Errorf("%s has no --output", c.path)
		}
	})
}

func TestRoot_WrongNumberOfArguments_ShowsTheUsage(t *testing.T) {
	for usage, args := range map[string][]string{
		"kubectl sei why NODE [flags]":                       {"why"},
		"kubectl sei set image FLEET|NODE IMAGE [flags]":     {"set", "image", "rpc"},
		"kubectl sei op run restart-seid FLEET|NODE [flags]": {"op", "run", "restart-seid", "a", "b"},
	} {
		if _, err := withoutCluster(t).run(t, args...); err == nil || !strings.HasSuffix(err.Error(), "; usage: "+usage) {
			t.Errorf("%v: got %v", args, err)
		}
	}
}

func TestComplete_NamesOfNodesAndFleets_BeginWithWhatWasTyped(t *testing.T) {
	node, other, fleet := &seiv1.SeiNode{}, &seiv1.SeiNode{}, &seiv1.SeiNodeDeployment{}
	node.Name, node.Namespace = "rpc-0", testNamespace
	other.Name, other.Namespace = "rpc-9", "elsewhere"
	fleet.Name, fleet.Namespace = "rpc", testNamespace
	p := newPlugin(t, node, other, fleet)
	got, _ := p.CompleteFleetsAndNodes()(NewRoot(p.Factory, ""), nil, "rp")
	if len(got) != 2 || got[0] != "rpc" || got[1] != "rpc-0" {
		t.Errorf("proposed %v, want 2 of them, %q and %q", got, "rpc", "rpc-0")
	}
}

func TestOutput_AFormatTheCommandDoesNotHave_IsRefused(t *testing.T) {
	o := Output{Format: "xml", allowed: []string{FormatJSON}}
	if err := o.Validate(); err == nil {
		t.Error("xml was accepted")
	}
}

func TestColor_NoTerminalOrNoColor_IsOff(t *testing.T) {
	if newPlugin(t).Color() {
		t.Error("output that goes into a file is coloured")
	}
}

func TestPaintTable_AlarmingWordsOnly(t *testing.T) {
	got := paintTable("NAME READY\nrpc-0 True\nrpc-1 False CrashLoopBackOff\n\nrpc-1: False alarm\n")
	want := "NAME READY\nrpc-0 True\nrpc-1 \x1b[33mFalse\x1b[0m \x1b[31mCrashLoopBackOff\x1b[0m\n\nrpc-1: False alarm\n"
	if got != want {
		t.Errorf("got %q, want %v", got, want)
	}
}

func TestPaint_StateOfANode_IsNotMissed(t *testing.T) {
	if got, want := paint("rpc-0 is not Ready for 3m: UpdateFailed\n"), "rpc-0 is \x1b[33mnot Ready\x1b[0m for 3m: UpdateFailed\n"; got != want {
		t.Errorf("got %q, want %v", got, want)
	}
	if got, want := paint("rpc-0 is Ready for 3m: InSync\n"), "rpc-0 is Ready for 3m: InSync\n"; got != want {
		t.Errorf("got %q, want %v", got, want)
	}
}
