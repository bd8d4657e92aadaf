package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// buildManager builds the operator. With a profiler a file is laid over the source;
// the source itself knows none.
func buildManager(ctx context.Context, root, dir string, profiled bool) (string, error) {
	binary := filepath.Join(dir, "manager")
	// As a release is built.
	args := []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", binary}
	if profiled {
		overlay, err := writeOverlay(root, dir)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/manager")...)
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the manager: %w\n%s", err, out)
	}
	return binary, nil
}

// operator is one run of the manager. Should the bench be killed, it ends by itself
// when it cannot renew its lease.
type operator struct {
	cmd     *exec.Cmd
	started time.Time
	metrics string
	profile string
	ended   chan struct{}
	err     error
	log     string
}

// startOperator starts the manager and does not wait for anything.
func (w *world) startOperator(ctx context.Context, s *settings, binary string) (*operator, error) {
	o := &operator{ended: make(chan struct{}), log: filepath.Join(w.dir, "manager.log")}
	var err error
	if o.metrics, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	if o.profile, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	args := slices.Concat([]string{
		"--kubeconfig=" + w.kubeconfig, "--namespace=" + operatorNamespace, "--watch-namespace=" + nodesNamespace,
		"--sidecar-token-file=" + w.token, "--metrics-bind-address=" + o.metrics, "--insecure-metrics",
		"--health-probe-bind-address=0", "--ec2-peers=false",
	}, s.managerArgs)
	o.cmd = exec.CommandContext(ctx, binary, args...)
	o.cmd.Env = append(os.Environ(), profileVariable+"="+o.profile)
	out, err := os.OpenFile(o.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	defer func() { _ = out.Close() }()
	o.cmd.Stdout, o.cmd.Stderr = out, out
	o.started = time.Now()
	if err := o.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	go func() {
		o.err = o.cmd.Wait()
		close(o.ended)
	}()
	return o, nil
}

func (o *operator) pid() int { return o.cmd.Process.Pid }

// stop ends the operator as Kubernetes does, and waits for its end.
func (o *operator) stop(ctx context.Context) error {
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the manager: %w", err)
	}
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	select {
	case <-o.ended:
	case <-ctx.Done():
		return fmt.Errorf("stopping the manager: %w", ctx.Err())
	case <-late.C:
		return errors.New("stopping the manager: it did not end within a minute")
	}
	if o.err != nil {
		return fmt.Errorf("stopping the manager: %w; its last words:\n%s", o.err, o.lastWords())
	}
	return nil
}

// kill ends the operator whatever state it is in; after stop it does nothing.
func (o *operator) kill() {
	_ = o.cmd.Process.Kill()
	<-o.ended
}

func (o *operator) lastWords() []byte {
	text, err := os.ReadFile(o.log)
	if err != nil {
		return []byte(err.Error())
	}
	return text[max(0, len(text)-4000):]
}

// awaitLeader waits until the operator holds the lease and answers.
func (o *operator) awaitLeader(ctx context.Context) error {
	return o.awaitMetric(ctx, "leader_election_master_status", 1)
}

// awaitMetric waits until the sum of a metric's series has reached a value.
func (o *operator) awaitMetric(ctx context.Context, name string, value float64, labels ...string) error {
	return poll(ctx, 5*time.Minute, fmt.Sprintf("%s of the operator to reach %g", name, value), func() (bool, error) {
		select {
		case <-o.ended:
			return false, fmt.Errorf("the operator ended: %w\n%s", errors.Join(o.err, errEnded), o.lastWords())
		default:
		}
		text, err := o.scrape(ctx)
		if err != nil {
			return false, nil //nolint:nilerr // it has not begun to listen
		}
		return sumOf(text, name, labels...) >= value, nil
	})
}

var errEnded = errors.New("unexpected end")

func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

// poll asks every 20 ms until the answer is yes.
func poll(ctx context.Context, patience time.Duration, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := done()
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
}

// pause lets time pass: for a look at rest.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("resting: %w", ctx.Err())
	}
}

// scrape reads the operator's metrics.
func (o *operator) scrape(ctx context.Context) ([]byte, error) {
	var text bytes.Buffer
	if err := fetch(ctx, "http://"+o.metrics+"/metrics", &text); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
