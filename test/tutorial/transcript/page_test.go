package transcript_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sei-operator/sei-operator/test/tutorial/transcript"
)

// page is what is between the lines of a raw string, with ' in place of `.
func page(text string) string { return strings.ReplaceAll(strings.TrimPrefix(text, "\n"), "'", "`") }

const example = `
# Title

'''sh
not run
'''

'''console
$ kubectl get \
    pods
NAME
rpc-0-0

$ true
'''

Text.

'''console watch
$ kubectl sei status --watch
'''

'''console
$ false
error: no
'''
`

func TestParse_CommandsOfSessions_ComeWithTheirOutput(t *testing.T) {
	got, err := transcript.Parse(page(example))
	if err != nil {
		t.Fatal(err)
	}
	want := []transcript.Step{
		{Line: 8, Block: 0, Command: "kubectl get \\\n    pods", Output: []string{"NAME", "rpc-0-0", ""}},
		{Line: 13, Block: 0, Command: "true", Output: []string{}},
		{Line: 19, Block: 1, Command: "kubectl sei status --watch", Watch: true, Output: []string{}},
		{Line: 23, Block: 1, Command: "false", Output: []string{"error: no"}},
	}
	if diff := cmp.Diff(want, got.Steps, cmpopts.IgnoreUnexported(transcript.Step{})); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	for i, step := range got.Steps {
		if fails := i == 3; step.Fails() != fails {
			t.Errorf("%s: fails is %v", step.Command, step.Fails())
		}
	}
}

func TestParse_PagesThatCannotBeRun_AreRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a block without an end":       {"'''console\n$ true\n", "line 1: the block has no end"},
		"output before a command":      {"'''console\nNAME\n'''\n", "line 2: a block begins with a command"},
		"output of a watch":            {"'''console watch\n$ true\nyes\n'''\n'''console\n$ true\n'''\n", "line 2: a watch has no output"},
		"a watch that nothing follows": {"'''console watch\n$ true\n'''\n'''sh\n$ true\n'''\n", "line 2: no block with commands follows"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := transcript.Parse(page(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestRewrite_ReplacesTheOutputsItIsGiven(t *testing.T) {
	parsed, err := transcript.Parse(page(example))
	if err != nil {
		t.Fatal(err)
	}
	got, err := parsed.Rewrite(map[int][]string{0: {"NAME", "rpc-0-0", "rpc-1-0"}, 1: {"yes"}, 3: {}})
	if err != nil {
		t.Fatal(err)
	}
	want := page(strings.NewReplacer("rpc-0-0\n\n$ true\n", "rpc-0-0\nrpc-1-0\n$ true\nyes\n", "error: no\n", "").Replace(example))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	if same, err := parsed.Rewrite(nil); err != nil || same != page(example) {
		t.Errorf("without outputs the page is another one: %v\n%s", err, same)
	}
}

func TestRewrite_OutputThatWouldEndItsBlock_IsRefused(t *testing.T) {
	parsed, err := transcript.Parse(page(example))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"```", "$ rm"} {
		if _, err := parsed.Rewrite(map[int][]string{1: {line}}); err == nil {
			t.Errorf("%q is taken as output", line)
		}
	}
}
