package sidecar_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

// The environment of a seid that closes slowly: the chain binary it wraps, and the home of
// the node. On other homes, such as those of trial starts, it is the chain binary.
const (
	slowCloseSeidEnv = "SEI_TEST_SLOW_CLOSE_SEID"
	slowCloseHomeEnv = "SEI_TEST_SLOW_CLOSE_HOME"
)

// TestMain makes the test binary a seid that closes slowly when it is started as one.
func TestMain(m *testing.M) {
	if chain := os.Getenv(slowCloseSeidEnv); chain != "" {
		code, err := closeSlowly(chain)
		if err != nil {
			fmt.Fprintln(os.Stderr, "slow seid:", err)
			code = 1
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// slowCloser is a chain binary that takes its time to close: asked to end it continues until
// the test releases it, and asked again it is killed. That is what becomes of seid: it drops
// its signal handler at the first signal.
type slowCloser struct {
	t    *testing.T
	path string
	env  []string
}

// What the wrapper writes down of its life, a line each.
const (
	lineAsked   = "asked to end"
	lineClosing = "closing"
	lineEnded   = "ended with "
)

func newSlowCloser(t *testing.T, n *node) slowCloser {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The name by which a sidecar recognises the chain among other processes.
	path := filepath.Join(t.TempDir(), "seid")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return slowCloser{t: t, path: path, env: []string{slowCloseSeidEnv + "=" + handlertest.SeidPath(t), slowCloseHomeEnv + "=" + n.home}}
}

// release lets every process close that was asked to end.
func (s slowCloser) release() {
	s.t.Helper()
	if err := os.WriteFile(releaseOf(s.path), nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// lives is what each process has written down, in the order of their starts.
func (s slowCloser) lives() (lives [][]string) {
	s.t.Helper()
	files, err := filepath.Glob(s.path + ".life.*")
	if err != nil {
		s.t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(filepath.Ext(a), filepath.Ext(b)) })
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		lives = append(lives, strings.Split(strings.TrimSpace(string(text)), "\n"))
	}
	return lives
}

// whileOpen waits until a request has arrived, and fails when the process has not stayed as
// it was: running, and asked to end at most once.
func (s slowCloser) whileOpen(what string, arrived func() bool) {
	s.t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for done := false; !done; {
		done = arrived()
		if lives := s.lives(); len(lives) != 1 || len(lives[0]) > 1 {
			s.t.Fatalf("%s: the processes wrote down %q, want one that was asked to end once and still runs", what, lives)
		}
		select {
		case <-tick.C:
		case <-deadline:
			s.t.Fatalf("%s did not arrive", what)
		}
	}
}

func releaseOf(path string) string { return path + ".release" }

// closeSlowly is the wrapper's life.
func closeSlowly(chain string) (code int, err error) {
	args := os.Args[1:]
	if !slices.Contains(args, "start") || !slices.Contains(args, os.Getenv(slowCloseHomeEnv)) {
		return 1, syscall.Exec(chain, append([]string{chain}, args...), os.Environ())
	}
	terms := make(chan os.Signal, 8)
	signal.Notify(terms, syscall.SIGTERM)
	life, err := os.Create(os.Args[0] + ".life." + strconv.FormatInt(time.Now().UnixNano(), 10))
	if err != nil {
		return 1, err
	}
	cmd := exec.Command(chain, args...)
	cmd.Args[0] = "chain" // a sidecar that looks for seid finds the wrapper
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // the child dies with the thread that started it
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	say := func(line string) { _, err = fmt.Fprintln(life, line) }
	asked, closing := false, false
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-terms:
			say(lineAsked)
			if asked {
				_ = cmd.Process.Kill()
			}
			asked = true
		case <-tick.C:
			if _, held := os.Stat(releaseOf(os.Args[0])); asked && !closing && held == nil {
				say(lineClosing)
				closing = true
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
		case failed := <-ended:
			if _, ok := errors.AsType[*exec.ExitError](failed); failed != nil && !ok {
				return 1, failed
			}
			code = exitCode(cmd.ProcessState)
			say(lineEnded + strconv.Itoa(code))
			return code, err
		}
	}
}
