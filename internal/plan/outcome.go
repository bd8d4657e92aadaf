package plan

import "time"

// Outcome is what one call of a task came to. Make one with Done, Wait, Retry or
// Terminal.
type Outcome struct {
	verdict verdict
	// Reason is a CamelCase word for programs: which of the task's known
	// situations this is. It may be empty.
	Reason string
	// Message says in words what a waiting task waits for, or what a finished
	// one found. It must not hold anything that changes by itself, such as a
	// time or a count, or every pass would write status.
	Message string
	// After is when to look again if no event comes first. Zero leaves it to events.
	After time.Duration
	// untimed: the wait takes nothing of the task's time.
	untimed bool
	// Err is why a task has to be tried again or given up.
	Err error
}

type verdict int

const (
	done verdict = iota
	wait
	retry
	terminal
)

// Done ends the task well.
func Done(message string) Outcome { return Outcome{verdict: done, Message: message} }

// Wait keeps the task running: it is called again after the given time, or when
// something it watches changes. The task's deadline bounds the wait.
func Wait(reason, message string, after time.Duration) Outcome {
	return Outcome{verdict: wait, Reason: reason, Message: message, After: after}
}

// Untimed is a wait that the task's deadline does not bound: what it waits for has a deadline of
// its own. The task has its whole time once that has ended.
func (o Outcome) Untimed() Outcome {
	o.untimed = true
	return o
}

// Retry ends this attempt. Another one, with a new id, follows after a back-off
// as long as the task's budget lasts.
func Retry(err error) Outcome { return Outcome{verdict: retry, Err: err} }

// Terminal ends the task and its plan: trying again cannot help.
func Terminal(reason string, err error) Outcome {
	return Outcome{verdict: terminal, Reason: reason, Err: err}
}

// String names the verdict.
func (o Outcome) String() string {
	return [...]string{done: "done", wait: "wait", retry: "retry", terminal: "terminal"}[o.verdict]
}

// IsDone reports whether the task ended well.
func (o Outcome) IsDone() bool { return o.verdict == done }

// IsWait reports whether the task is still under way.
func (o Outcome) IsWait() bool { return o.verdict == wait }

// IsRetry reports whether this attempt failed but another may follow.
func (o Outcome) IsRetry() bool { return o.verdict == retry }

// IsTerminal reports whether the task was given up.
func (o Outcome) IsTerminal() bool { return o.verdict == terminal }
