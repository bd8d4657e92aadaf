package operation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
)

func TestKinds_AreListedInTheDocumentationWithTheirTime(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "how-to", "tasks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range operation.Kinds() {
		found := false
		for line := range strings.Lines(string(page)) {
			cells := strings.Split(line, "|")
			found = found || len(cells) > 4 && strings.TrimSpace(cells[1]) == fmt.Sprintf("`%s`", kind.Name) && strings.TrimSpace(cells[3]) == short(kind.Timeout)
		}
		if !found {
			t.Errorf("docs/how-to/tasks.md does not list %s with its default timeout %s", kind.Name, short(kind.Timeout))
		}
	}
}

// short is a duration in hours, or else in minutes.
func short(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}

func TestKindOf_UnknownKind_IsAnErrorAndChangesNothing(t *testing.T) {
	spec := &v1alpha1.SeiNodeTaskSpec{Kind: "Dance"}
	if _, err := operation.KindOf(spec); err == nil || !strings.Contains(err.Error(), `"Dance"`) {
		t.Errorf("%v, want an error with %q", err, `"Dance"`)
	}
	if operation.Changes(spec) {
		t.Error("others would queue behind a task that is never done")
	}
}
