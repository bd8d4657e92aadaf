package manager

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/definitions"
)

// watcher is a check with what it says.
type watcher struct {
	definitionCheck
	lines []string
	told  []definitions.Skew
}

func newWatcher(document func() ([]byte, error)) *watcher {
	w := &watcher{definitionCheck: definitionCheck{document: document}}
	w.log = funcr.New(func(_, args string) { w.lines = append(w.lines, args) }, funcr.Options{})
	w.tell = func(skews []definitions.Skew) { w.told = skews }
	return w
}

func TestDefinitionCheck_TellsEachChangeOnce(t *testing.T) {
	// A cluster in which a SeiNode has a single field, and there are no other kinds.
	document, err := []byte(`{"components":{"schemas":{"x":{"properties":{"newer":{}},
		"x-kubernetes-group-version-kind":[{"group":"sei.io","version":"v1alpha1","kind":"SeiNode"}]}}}}`), error(nil)
	w := newWatcher(func() ([]byte, error) { return document, err })
	w.look()
	w.look()
	if len(w.told) != 3 || len(w.told[0].Unknown) != 1 || len(w.told[0].Missing) == 0 || w.told[0].Kind != seiv1.KindSeiNode {
		t.Errorf("told %+v, want 3 told, 1 Unknown, some Missing and Kind %v", w.told, seiv1.KindSeiNode)
	}
	said := strings.Join(w.lines, "\n")
	if len(w.lines) != 4 || !strings.Contains(said, "apply the CRDs of this version") || !strings.Contains(said, "newer than the operator") {
		t.Errorf("after two looks the log has:\n%s", said)
	}

	w.lines, w.told, err = nil, nil, errors.New("no answer")
	w.look()
	if w.told != nil || len(w.lines) != 1 || !strings.Contains(w.lines[0], "no answer") {
		t.Errorf("told %+v of a cluster that does not answer; log %v", w.told, w.lines)
	}
}
