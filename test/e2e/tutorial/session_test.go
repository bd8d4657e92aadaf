package tutorial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/test/tutorial/transcript"
)

const (
	// buildTimeout is for building everything from nothing on two cores.
	buildTimeout = 45 * time.Minute
	// stepTimeout is how long a command of the page may take. Some have a timeout of their own, ten minutes.
	stepTimeout = 15 * time.Minute
	// lookTimeout is how long a command that only looks is repeated until it shows what the page does.
	lookTimeout = 3 * time.Minute
)

// session is the reader's shell.
type session struct {
	t *testing.T
	// dir is where the reader works: a folder that has the repository's charts and manifests.
	dir string
	env []string
	// screens are what the pictures are drawn from, by the picture's name.
	screens map[string][]screen
}

// begin starts a cluster that has the images and nothing installed, as the page asks for.
func begin(t *testing.T, root string) *session {
	t.Helper()
	s := &session{t: t, dir: t.TempDir(), screens: map[string][]screen{}}
	state := filepath.Join(root, ".state", "tutorial")
	script := func(ctx context.Context, name string, args ...string) string {
		cmd := exec.CommandContext(ctx, filepath.Join(root, "hack", name), args...)
		cmd.Env = append(os.Environ(), "CLUSTER_STATE="+state, "CLUSTER_NETWORK=198.19.0.0/16")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("running hack/%s: %v\n%s", name, err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return lines[len(lines)-1]
	}
	ctx, cancel := context.WithTimeout(t.Context(), buildTimeout)
	t.Cleanup(cancel)
	helm := script(ctx, "helm.sh")
	kubernetes := script(ctx, "build-cluster.sh", "--node", "--print-path")
	plugin := filepath.Join(s.dir, "bin")
	// The page shows a plugin of no particular version, whatever git says of the checkout.
	s.must(exec.CommandContext(ctx, "go", "build", "-C", root, "-buildvcs=false", "-o", plugin+"/", "./cmd/kubectl-sei"))
	script(ctx, "down.sh") // what an interrupted run has left
	t.Cleanup(func() { script(context.WithoutCancel(t.Context()), "down.sh") })
	began := time.Now()
	script(ctx, "up.sh", "--empty")
	t.Logf("%5.1fs for the cluster", time.Since(began).Seconds())
	for _, name := range []string{"charts", "config"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{
		"PATH=" + strings.Join([]string{plugin, kubernetes, helm, os.Getenv("PATH")}, ":"),
		"KUBECONFIG=" + filepath.Join(state, "kubeconfig"), "HOME=" + s.dir, "LANG=C.UTF-8", "TERM=xterm",
	}
	t.Cleanup(func() { s.reportFailure(filepath.Join(root, ".cache", "test-failures", "e2e")) })
	return s
}

func (s *session) must(cmd *exec.Cmd) {
	s.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("running %s: %v\n%s", cmd, err, out)
	}
}

// looks are the commands that change nothing. A reader who is quicker than the cluster looks again, and so does the test.
var looks = []string{"kubectl get ", "kubectl sei status", "kubectl sei why ", "kubectl sei check", "kubectl sei history ", "kubectl sei op list"}

// errFailed is the error of a command that failed without saying so. It is no output to show.
var errFailed = errors.New("the command failed, and no line of its output begins with \"error: \"")

// run runs a command and returns its output, with an error when it is not what the page shows.
func (s *session) run(step transcript.Step) ([]string, error) {
	s.t.Helper()
	began := time.Now()
	defer func() { s.t.Logf("%5.1fs $ %s", time.Since(began).Seconds(), step.Command) }()
	for {
		output, failed := s.shell(step.Command)
		err := transcript.Fits(step.Output, output)
		switch {
		case failed != nil && !(&transcript.Step{Output: output}).Fails():
			err = fmt.Errorf("%w: %w:\n%s", errFailed, failed, strings.Join(output, "\n"))
		case failed == nil && step.Fails():
			err = fmt.Errorf("it should fail; it printed:\n%s", strings.Join(output, "\n"))
		}
		if err == nil || len(step.Output) == 0 || !isLook(step.Command) || time.Since(began) > lookTimeout {
			return output, err
		}
	}
}

func isLook(command string) bool {
	for _, prefix := range looks {
		if strings.HasPrefix(command, prefix) {
			return true
		}
	}
	return false
}

// shell runs a command as a shell does and returns all that it printed.
func (s *session) shell(command string) ([]string, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), stepTimeout)
	defer cancel()
	out, err := s.command(ctx, command).CombinedOutput()
	lines := strings.Split(string(bytes.TrimRight(out, "\n")), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	if len(lines) == 1 && lines[0] == "" {
		lines = nil
	}
	return lines, err
}

func (s *session) command(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", command)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// reportFailure has the plugin collect what a failure needs.
func (s *session) reportFailure(folder string) {
	if !s.t.Failed() {
		return
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		s.t.Error(err)
		return
	}
	file := filepath.Join(folder, "tutorial.tar.gz")
	_ = os.Remove(file) // of an earlier failure
	out, err := s.command(context.WithoutCancel(s.t.Context()), "kubectl sei report --namespace=sei-demo --file="+file).CombinedOutput()
	s.t.Logf("%s%v", out, err)
}
