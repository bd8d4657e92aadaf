package envtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// Process is one program of the control plane.
type Process struct {
	// Name is the program's name, PID its process id.
	Name string
	PID  int

	log    string
	exited chan struct{}
	err    error
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Failure describes an ended process with the end of its log.
func (p *Process) Failure() error {
	return fmt.Errorf("%s ended: %w; its last words:\n%s", p.Name, errors.Join(p.err, errEnded), p.tail())
}

var errEnded = errors.New("unexpected end")

func (p *Process) tail() []byte {
	const keep = 4000
	text, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	return text[max(0, len(text)-keep):]
}

// runner starts processes that end with this one, however it ends.
//
// Linux sends the parent-death signal when the *thread* that started the child
// ends. All starts therefore happen on one thread that lives until stop.
type runner struct {
	dir   string
	start chan func()

	mu        sync.Mutex
	processes []*Process
}

func newRunner(dir string) *runner {
	r := &runner{dir: dir, start: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range r.start {
			f()
		}
	}()
	return r
}

// run starts a program with its output in a log file.
func (r *runner) run(path string, args ...string) (*Process, error) {
	name := filepath.Base(path)
	logPath := filepath.Join(r.dir, name+".log")
	out, err := os.Create(logPath)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	defer func() { _ = out.Close() }()

	cmd := &exec.Cmd{
		Path: path, Args: append([]string{name}, args...), Dir: r.dir,
		Stdout: out, Stderr: out, SysProcAttr: diesWithParent(),
		// A fifth of a short-lived API server's work is to save memory that nobody is short of. The last of
		// two values counts, so that the environment has its say.
		Env: append([]string{"GOGC=400"}, os.Environ()...),
	}
	started := make(chan error)
	r.start <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p := &Process{Name: name, PID: cmd.Process.Pid, log: logPath, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.processes = append(r.processes, p)
	return p, nil
}

// stop kills everything. Nothing of a test control plane is worth a graceful end.
func (r *runner) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.processes {
		_ = syscall.Kill(-p.PID, syscall.SIGKILL)
	}
	for _, p := range r.processes {
		<-p.exited
	}
	close(r.start)
}

// logTails is the end of every log, for a failure that has no single culprit.
func (r *runner) logTails() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b bytes.Buffer
	for _, p := range r.processes {
		fmt.Fprintf(&b, "--- %s\n%s\n", p.Name, p.tail())
	}
	return b.String()
}
