package program

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/sei-operator/sei-operator/internal/objectstore"
)

const (
	// stopGrace is how long a process may take to give up what it has begun to write.
	stopGrace = 10 * time.Second
	// outputBuffer is as much as a pipe holds.
	outputBuffer = 64 << 10
)

// process answers one call.
type process struct {
	ctx  context.Context //nolint:containedctx // that of the call, whose end ends the process
	stop context.CancelFunc
	call call
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said lastWords
}

func (s *store) start(ctx context.Context, c call) (*process, error) {
	c.Address = s.address
	p := &process{call: c}
	p.ctx, p.stop = context.WithCancel(ctx)
	p.cmd = exec.CommandContext(p.ctx, s.path) //nolint:gosec // our own program
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = stopGrace
	p.cmd.Stderr = &p.said
	if err := p.run(); err != nil {
		p.stop()
		return nil, p.failed(objectstore.KindOther, err)
	}
	return p, nil
}

func (p *process) run() error {
	line, err := json.Marshal(p.call)
	if err != nil {
		return err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReaderSize(out, outputBuffer)
	if err := p.cmd.Start(); err != nil {
		return err
	}
	_, _ = p.in.Write(append(line, '\n')) // a process that has ended already says why
	return nil
}

// wait returns how the call ended. All output was read, or is of no interest.
func (p *process) wait() error {
	defer p.stop()
	_ = p.in.Close()
	err := p.cmd.Wait()
	switch {
	case errors.Is(p.ctx.Err(), context.DeadlineExceeded):
		return p.failed(objectstore.KindUnavailable, context.Cause(p.ctx))
	case p.ctx.Err() != nil:
		return context.Cause(p.ctx)
	case err == nil:
		return nil
	}
	if told := parseFailure(p.said.line()); told != nil {
		return told
	}
	return p.failed(objectstore.KindOther, fmt.Errorf("%w: %s", err, p.said.line()))
}

// abandon ends a process whose answer nobody wants any more.
func (p *process) abandon() {
	p.stop()
	_ = p.wait()
}

// failed is a call that the program has said nothing about.
func (p *process) failed(kind objectstore.Kind, err error) error {
	op := map[string]string{
		opStat: "reading", opGet: "reading", opList: "listing", opPut: "writing", opPutNew: "writing", opDelete: "deleting",
	}[p.call.Op]
	return &objectstore.Error{
		Kind: kind, Bucket: objectstore.WithoutQuery(p.call.Address), Key: p.call.Key, Op: op,
		Err: fmt.Errorf("running the storage program: %w", err),
	}
}

// lastWords keeps the end of what a process writes.
type lastWords struct{ text []byte }

// enough is longer than any error.
const enough = 16 << 10

// Write implements io.Writer.
func (w *lastWords) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	w.text = w.text[max(0, len(w.text)-enough):]
	return len(p), nil
}

func (w *lastWords) line() []byte {
	lines := bytes.Split(bytes.TrimSpace(w.text), []byte("\n"))
	return lines[len(lines)-1]
}
