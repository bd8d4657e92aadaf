package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

const (
	// holdBack is how long a line waits for an earlier one of another source while following.
	holdBack = 500 * time.Millisecond
	// reopenAfter is the time between two tries to continue with a log that has ended.
	reopenAfter = 2 * time.Second
)

// logLine is one line with the time at which the container wrote it.
type logLine struct {
	Time   time.Time `json:"time"`
	Source string    `json:"source"`
	Pod    string    `json:"pod"`
	Text   string    `json:"text"`
}

// logReader reads logs.
type logReader struct {
	cluster *Cluster
	clock   clock.WithTicker
	flags   *logFlags
	// trouble is where logs that cannot be read are named.
	trouble io.Writer
	mu      sync.Mutex
}

func (r *logReader) complain(s logSource, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = fmt.Fprintf(r.trouble, "warning: the log of %s in pod %s cannot be read: %v\n", s.name, s.pod.Name, err)
}

func (r *logReader) options(s logSource) *corev1.PodLogOptions {
	options := &corev1.PodLogOptions{Container: s.container, Timestamps: true, Follow: r.flags.follow, Previous: r.flags.previous}
	if r.flags.since > 0 {
		since := metav1.NewTime(r.clock.Now().Add(-r.flags.since))
		options.SinceTime = &since
	}
	if r.flags.tail >= 0 {
		options.TailLines = &r.flags.tail
	}
	return options
}

// readAll reads every source to its end. One that cannot be read is named and left out.
func (r *logReader) readAll(ctx context.Context, sources []logSource) [][]logLine {
	all := make([][]logLine, len(sources))
	var wait sync.WaitGroup
	for i, s := range sources {
		wait.Go(func() {
			_, err := r.read(ctx, s, r.options(s), func(l logLine) { all[i] = append(all[i], l) })
			if err != nil && (!r.flags.previous || !apierrors.IsBadRequest(err)) { // else it was not restarted yet
				r.complain(s, err)
			}
		})
	}
	wait.Wait()
	return all
}

// read calls each for every line of a log, and returns the time of the last.
func (r *logReader) read(ctx context.Context, s logSource, options *corev1.PodLogOptions, each func(logLine)) (time.Time, error) {
	var last time.Time
	stream, err := r.cluster.Logs.Stream(ctx, s.pod, options)
	if err != nil {
		return last, err
	}
	defer func() { _ = stream.Close() }()
	for lines := bufio.NewReader(stream); ; {
		text, err := lines.ReadString('\n')
		if text != "" {
			line := parseLine(s, strings.TrimSuffix(text, "\n"), last)
			last = line.Time
			if s.about == nil || s.about(line.Text) {
				each(line)
			}
		}
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return last, err
		}
	}
}

// parseLine takes the time from the beginning of a line, where the kubelet puts it. A line without
// one, such as the kubelet's own, has the time of the line before.
func parseLine(s logSource, text string, before time.Time) logLine {
	line := logLine{Time: before, Source: s.name, Pod: s.pod.Name, Text: text}
	stamp, rest, _ := strings.Cut(text, " ")
	if t, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
		line.Time, line.Text = t, rest
	}
	return line
}

// mergeLines puts the lines of all sources in the order of time. Lines of one source keep theirs.
func mergeLines(all [][]logLine) []logLine {
	merged := slices.Concat(all...)
	slices.SortStableFunc(merged, func(a, b logLine) int { return a.Time.Compare(b.Time) })
	return merged
}

// follow prints lines as they come. Each waits a moment for earlier ones of other sources.
func (r *logReader) follow(ctx context.Context, sources []logSource, show func(logLine) error) error {
	lines := make(chan logLine)
	for _, s := range sources {
		go r.keepReading(ctx, s, lines)
	}
	ticker := r.clock.NewTicker(holdBack)
	defer ticker.Stop()
	var held []logLine
	for {
		select {
		case line := <-lines:
			held = append(held, line)
		case <-ticker.C():
			for _, line := range mergeLines([][]logLine{held}) {
				if err := show(line); err != nil {
					return err
				}
			}
			held = held[:0]
		case <-ctx.Done():
			return nil // the user has ended it
		}
	}
}

// keepReading reads a source until the context ends, and continues after the last line when the
// container or the pod was replaced.
func (r *logReader) keepReading(ctx context.Context, s logSource, lines chan<- logLine) {
	options, complained := r.options(s), false
	var seen time.Time
	send := func(l logLine) {
		// The API server counts in seconds, so that lines of the last one come again.
		if !l.Time.After(seen) && !seen.IsZero() {
			return
		}
		select {
		case lines <- l:
		case <-ctx.Done():
		}
	}
	for {
		last, err := r.read(ctx, s, options, send)
		if apierrors.IsForbidden(err) {
			r.complain(s, err)
			return
		}
		if err != nil && ctx.Err() == nil && !complained {
			r.complain(s, err)
		}
		complained = err != nil
		if last.After(seen) {
			seen = last
			options.SinceTime, options.TailLines = &metav1.Time{Time: last.Truncate(time.Second)}, nil
		}
		select {
		case <-ctx.Done():
			return
		case <-r.clock.After(reopenAfter):
		}
	}
}
