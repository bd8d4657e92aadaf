package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// request asks a gate for a trial.
type request struct {
	ID          string `json:"id"`
	SeidVersion string `json:"seidVersion"`
	// Until is when the one who asked gives up.
	Until time.Time `json:"until"`
}

// answer is what the gate says to a request.
type answer struct {
	ID string `json:"id"`
	// Done is false while the trial is made.
	Done bool `json:"done"`
	// Digest is that of the files that were tried.
	Digest string `json:"digest,omitempty"`
	Result
}

func requestFile(home string) string { return own(home, "trial", "request.json") }
func answerFile(home string) string  { return own(home, "trial", "answer.json") }

const (
	// gateAnswers is how long a gate may take to notice a request. It looks twice a second.
	gateAnswers = 2 * time.Second
	askEvery    = 50 * time.Millisecond
)

// AskTimeout is long enough for a trial that takes its whole time, and for making the chain.
const AskTimeout = DefaultTimeout + 30*time.Second

// ErrChanged is a trial of files that are not those on disk any more.
var ErrChanged = errors.New("the configuration changed while it was tried")

// Ask has the gate try the files on disk for a version of seid. Files that passed before are
// not tried again. When nobody can try them the result says why.
func Ask(ctx context.Context, home, version string, timeout time.Duration) (Result, error) {
	return asker{home: home, version: version, timeout: timeout, running: seidRuns, notice: gateAnswers}.ask(ctx)
}

// seidRuns goes by the gate's record. Only the pods of older operators are without a gate, and there
// seid is seen.
func seidRuns(home string) (bool, error) {
	record, err := supervision.Read(home)
	if err != nil || record.State == api.SeidRunning {
		return true, err
	}
	if watched, err := supervision.Watched(home); err != nil || watched {
		return false, err
	}
	_, err = process.Table{Home: home}.Find()
	if errors.Is(err, process.ErrNotRunning) {
		return false, nil
	}
	return err == nil, err
}

type asker struct {
	home, version   string
	timeout, notice time.Duration
	running         func(home string) (bool, error)
}

func (a asker) ask(ctx context.Context) (Result, error) {
	subject, err := read(a.home)
	if err != nil {
		return Result{}, err
	}
	before, err := known(a.home, subject, a.version)
	if err != nil {
		return Result{}, err
	}
	if before != nil && before.Refused == "" {
		return Result{Tried: true}, nil
	}
	got, err := a.try(ctx)
	switch {
	case err != nil:
		return Result{}, err
	case got.Skipped == "" && got.Digest != subject.digest:
		return Result{}, ErrChanged
	case got.Skipped != "" && before != nil:
		// It cannot be tried again, but it was refused before.
		return Result{Tried: true, Refused: before.Refused}, nil
	}
	return got.Result, nil
}

// try leaves a request and waits for its answer.
func (a asker) try(ctx context.Context) (answer, error) {
	runs, err := a.running(a.home)
	if err != nil {
		return answer{}, err
	}
	if runs {
		return answer{Result: skip("seid is running")}, nil
	}
	req := request{ID: uuid.NewString(), SeidVersion: a.version, Until: time.Now().Add(a.timeout)}
	if err := store(requestFile(a.home), req); err != nil {
		return answer{}, err
	}
	// A gate that has taken it answers all the same, and nobody listens.
	defer func() { _ = withdraw(a.home, req.ID) }()
	return a.wait(ctx, req.ID)
}

func (a asker) wait(ctx context.Context, id string) (answer, error) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	noticed, done := time.After(a.notice), time.After(a.timeout)
	for {
		select {
		case <-ctx.Done():
			return answer{}, fmt.Errorf("waiting for the trial: %w", context.Cause(ctx))
		case <-noticed:
			return answer{Result: skip("no gate waits for seid to be started")}, nil
		case <-done:
			return answer{Result: skip("the gate gave no answer within %s", a.timeout)}, nil
		case <-tick.C:
		}
		var got answer
		if found, err := load(answerFile(a.home), &got); err != nil {
			return answer{}, err
		} else if !found || got.ID != id {
			continue
		}
		if got.Done {
			return got, durable.Remove(answerFile(a.home))
		}
		noticed = nil
	}
}
