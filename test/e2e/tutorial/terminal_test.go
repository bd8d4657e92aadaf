package tutorial

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/tutorial/picture"
	"github.com/sei-operator/sei-operator/test/tutorial/transcript"
)

// screen is what a picture shows.
type screen = picture.Screen

// terminal is a command that runs at a terminal of its own.
type terminal struct {
	command string
	cmd     *exec.Cmd
	tty     *os.File
	ended   chan struct{}

	mu      sync.Mutex
	printed []byte
}

// size is that of a terminal in which a table fits.
var size = &pty.Winsize{Rows: 50, Cols: 150}

// open starts a command at a terminal.
func (s *session) open(command string) *terminal {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), stepTimeout)
	s.t.Cleanup(cancel)
	t := &terminal{command: command, cmd: s.command(ctx, command), ended: make(chan struct{})}
	var err error
	if t.tty, err = pty.StartWithSize(t.cmd, size); err != nil {
		s.t.Fatalf("starting %s at a terminal: %v", command, err)
	}
	go func() {
		defer close(t.ended)
		_, _ = io.Copy(t, t.tty) // ends with an error when the last process has closed the terminal
	}()
	return t
}

// Write keeps what is printed.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.printed = append(t.printed, p...)
	return len(p), nil
}

func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.printed)
}

// wait returns what the command printed, once it has ended.
func (s *session) wait(t *terminal) string {
	s.t.Helper()
	err := t.cmd.Wait()
	<-t.ended
	_ = t.tty.Close()
	if err != nil {
		s.t.Errorf("%s: %v\n%s", t.command, err, t.text())
	}
	return t.text()
}

// awaitFrames waits until the command has drawn so often, for as long as a look is repeated.
func (t *terminal) awaitFrames(ctx context.Context, drawn int) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for len(picture.Frames(t.text())) < drawn {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// close ends watches as the reader does: after another look, with Ctrl-C.
func (s *session) close(watches []*terminal) {
	s.t.Helper()
	for _, t := range watches {
		before := len(picture.Frames(t.text()))
		t.awaitFrames(s.t.Context(), before+2)
		if _, err := t.tty.WriteString("\x03"); err != nil {
			s.t.Errorf("ending %s: %v", t.command, err)
		}
		frames := picture.Frames(s.wait(t))
		if len(frames) < before+2 {
			s.t.Errorf("%s has drawn %d times only", t.command, len(frames))
			continue
		}
		for _, frame := range frames {
			if strings.Contains(frame, "error:") {
				s.t.Errorf("%s has shown an error:\n%s", t.command, frame)
			}
		}
		s.screens["rollout.svg"] = rolloutScreens(t.command, frames)
	}
}

// rolloutScreens are three frames of a watch: when the first node of two has no ready pod, when the second has none, and
// the last one that is complete.
func rolloutScreens(command string, frames []string) []screen {
	shown := []screen{{Command: command}}
	for _, words := range []string{"0/2 updated", "1/2 updated"} {
		moving := func(frame string) bool {
			return strings.Contains(frame, words) && strings.Contains(frame, v1alpha1.ReasonPodNotReady)
		}
		if i := slices.IndexFunc(frames, moving); i >= 0 {
			shown = append(shown, screen{Printed: frames[i]})
		}
	}
	return append(shown, screen{Printed: frames[len(frames)-2]})
}

// photograph keeps what the first `why` shows at a terminal.
func (s *session) photograph(step transcript.Step) {
	s.t.Helper()
	const name = "why.svg"
	if !writing || s.screens[name] != nil || !strings.HasPrefix(step.Command, "kubectl sei why ") {
		return
	}
	s.screens[name] = []screen{{Command: step.Command, Printed: s.wait(s.open(step.Command))}}
}

// titles are what screen readers say.
var titles = map[string]string{
	"rollout.svg": "kubectl sei status --watch while a fleet of two nodes is moved to another image: three screens",
	"why.svg":     "kubectl sei why on a node with a misspelt override",
}

// draw writes the pictures.
func (s *session) draw(folder string) {
	s.t.Helper()
	for name, title := range titles {
		svg, err := picture.SVG(title, s.screens[name]...)
		if err != nil {
			s.t.Fatalf("%s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), svg, 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
}
