package trial

import (
	"strings"
	"sync"
)

const (
	// maxLine is how much is kept of a line, and maxWords of what is reported all.
	maxLine  = 4 << 10
	maxWords = 1000
)

// words reads what seid writes and keeps the line that says why it ended.
type words struct {
	mu sync.Mutex
	// line is the one that is being written.
	line []byte
	// said is the last line that begins a panic or an error; logged the last of its log
	// about an error, and last the last one at all.
	said, logged, last string
}

// Write implements io.Writer.
func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range p {
		switch {
		case c == '\n':
			w.end()
		case len(w.line) < maxLine:
			w.line = append(w.line, c)
		}
	}
	return len(p), nil
}

func (w *words) end() {
	line := strings.TrimSpace(string(w.line))
	w.line = w.line[:0]
	switch {
	case line == "":
		return
	case strings.HasPrefix(line, "panic:"), strings.HasPrefix(line, "fatal error:"), strings.HasPrefix(line, "Error:"):
		w.said = line
	case strings.Contains(line, "level=ERROR"), strings.Contains(line, `"level":"error"`):
		w.logged = line
	}
	w.last = line
}

// String is the line that matters.
func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end()
	for _, line := range []string{w.said, w.logged, w.last} {
		if line != "" {
			return strings.ToValidUTF8(line[:min(len(line), maxWords)], "")
		}
	}
	return "it said nothing"
}
