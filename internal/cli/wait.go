package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// waitInterval is how often an object is looked at that a command waits for.
const waitInterval = time.Second

// waiting is how a command waits for an object.
type waiting struct{ timeout time.Duration }

func (w *waiting) addFlags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&w.timeout, "timeout", 0, "How long to wait before giving up. 0 waits forever.")
}

// follow looks at an object until progress says that it is done, and prints what progress says whenever
// that changes: one line each, at a terminal over the line before, and beside an output that programs
// read. An API server that does not answer is waited for.
func (w *waiting) follow(ctx context.Context, f *Factory, c *Cluster, output *Output, obj client.Object, progress func() (string, bool, error)) error {
	var deadline time.Time
	if w.timeout > 0 {
		deadline = f.Clock.Now().Add(w.timeout)
	}
	line := progressLine{out: f.IO.Out, over: f.Terminal()}
	if !output.Human() {
		line = progressLine{out: f.IO.ErrOut}
	}
	for {
		words, done, err := progress()
		line.show(words)
		if done || err != nil {
			line.end()
			return err
		}
		if !deadline.IsZero() && !f.Clock.Now().Before(deadline) {
			line.end()
			return fmt.Errorf("not done after %s: %s", w.timeout, words)
		}
		select {
		case <-ctx.Done():
			line.end()
			return errors.New("interrupted; the operation continues in the cluster")
		case <-f.Clock.After(waitInterval):
		}
		if err := refresh(ctx, c, obj); err != nil {
			line.end()
			return err
		}
	}
}

// printEnd prints, for programs, what a command has waited for.
func (c *Cluster) printEnd(f *Factory, output *Output, obj client.Object) error {
	if output.Human() {
		return nil
	}
	return c.print(f.IO.Out, output, obj, "")
}

// refresh reads an object again. Errors that pass leave it as it was.
func refresh(ctx context.Context, c *Cluster, obj client.Object) error {
	fresh, _ := obj.DeepCopyObject().(client.Object)
	zero(fresh)
	err := c.Client.Get(ctx, client.ObjectKeyFromObject(obj), fresh)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s was deleted", obj.GetName())
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return err
	case err != nil:
		return nil //nolint:nilerr // the next look may succeed
	}
	assign(obj, fresh)
	return nil
}

// progressLine is one line that changes; over says whether it is written over itself.
type progressLine struct {
	out  io.Writer
	over bool
	last string
}

func (l *progressLine) show(words string) {
	if words == l.last {
		return
	}
	l.last = words
	if l.over {
		_, _ = fmt.Fprintf(l.out, "\r\x1b[K%s", words)
		return
	}
	_, _ = fmt.Fprintln(l.out, words)
}

func (l *progressLine) end() {
	if l.last != "" && l.over {
		_, _ = fmt.Fprintln(l.out)
	}
}

// barWidth is how many characters a bar has.
const barWidth = 20

// bar shows how much of a whole is done.
func bar(done, total int32) string {
	full := 0
	if total > 0 {
		full = int(min(done, total)) * barWidth / int(total)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "]"
}
