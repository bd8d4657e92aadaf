package tutorial

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/test/elapse"
	"github.com/sei-operator/sei-operator/test/tutorial/transcript"
)

// reading is how long a reader looks at what a block has shown before changing something. It is longer than a node of the page
// has to stay ready before it counts on its own: which of two nodes moves first depends on that.
const reading = 10 * time.Second

// writing is whether outputs and pictures are written in place of compared.
var writing = os.Getenv("TUTORIAL") == "write"

func TestTutorial_EveryCommand_DoesWhatThePageShows(t *testing.T) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("skipped: running pods needs Linux and root")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "docs", "tutorial.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page, err := transcript.Parse(string(text))
	if err != nil {
		t.Fatalf("docs/tutorial.md: %v", err)
	}
	if len(page.Steps) < 10 {
		t.Fatalf("docs/tutorial.md has %d commands only", len(page.Steps))
	}
	s := begin(t, root)
	began := time.Now()
	changed := s.walk(page.Steps)
	t.Logf("%5.1fs for all commands of the page", time.Since(began).Seconds())
	if !writing {
		return
	}
	rewritten, err := page.Rewrite(changed)
	if err != nil {
		t.Fatalf("docs/tutorial.md: %v", err)
	}
	if err := os.WriteFile(file, []byte(rewritten), 0o644); err != nil {
		t.Fatal(err)
	}
	s.draw(filepath.Join(root, "docs", "images"))
}

// walk goes through the page, and returns the outputs that the page does not show, by the number of their step.
func (s *session) walk(steps []transcript.Step) map[int][]string {
	s.t.Helper()
	changed := map[int][]string{}
	var watches []*terminal
	for i, step := range steps {
		if i > 0 && steps[i-1].Block != step.Block && (step.Watch || !isLook(step.Command)) {
			elapse.For(s.t.Context(), reading)
		}
		if step.Watch {
			watches = append(watches, s.open(step.Command))
			continue
		}
		output, err := s.run(step)
		if err != nil && (!writing || errors.Is(err, errFailed)) {
			s.t.Fatalf("docs/tutorial.md:%d: %s\n%v", step.Line, step.Command, err)
		}
		if err != nil {
			changed[i] = output
		}
		s.photograph(step)
		if i+1 == len(steps) || steps[i+1].Block != step.Block {
			s.close(watches)
			watches = nil
		}
	}
	return changed
}
