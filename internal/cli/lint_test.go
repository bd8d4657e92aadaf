package cli

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestLint_MistakesOfEveryKind_AreFoundWithTheirPlace(t *testing.T) {
	p := withoutCluster(t)
	file := filepath.Join("testdata", "lint", "broken.yaml")
	text, err := p.run(t, "lint", file)
	golden(t, "lint/broken.txt", text)
	exit, ok := errors.AsType[*ExitError](err)
	if !ok || exit.Code != 1 {
		t.Errorf("got %v, want an exit with code 1", err)
	}
	document, _ := p.run(t, "lint", file, "-o", "json")
	golden(t, "lint/broken.json", document)
}

func TestLint_TheSamples_AreFineAlsoAsADirectory(t *testing.T) {
	got := withoutCluster(t).mustRun(t, "lint", filepath.Join("..", "..", "config", "samples"))
	if !strings.Contains(got, "nothing found") || strings.HasPrefix(got, "0 ") {
		t.Errorf("got %s", got)
	}
}

func TestLint_StandardInput_IsRead(t *testing.T) {
	p := withoutCluster(t)
	p.IO.In = strings.NewReader("apiVersion: sei.io/v1alpha1\nkind: SeiNode\nmetadata: {name: x}\nspec: {chainId: c, image: i, fullNode: {}, colour: red}\n")
	got, err := p.run(t, "lint", "-")
	if want := "-:4:44: error: SeiNode/x spec.colour: unknown field\n"; got != want || err == nil || err.Error() != "1 error was found" {
		t.Errorf("got %q, want %q: %v", got, want, err)
	}
}

func TestLint_NoFile_IsAnError(t *testing.T) {
	for _, arg := range []string{"testdata/no-such-file.yaml", t.TempDir()} {
		if _, err := withoutCluster(t).run(t, "lint", arg); err == nil {
			t.Errorf("%s: no error", arg)
		}
	}
}
