package gate

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Bounds on what is kept of the output: the beginning of the line that is being written,
// and the lines that tell why a process ended. A line about a block may name every signature of
// its commit before it comes to the point.
const (
	maxLine    = 32 << 10
	maxMessage = 1 << 10
)

// output passes on what a process writes and remembers what matters when it ends.
type output struct {
	mu       sync.Mutex
	findings findings
	at       time.Time
	streams  []*stream
}

// findings are what the output says about the end of the process.
type findings struct {
	// panicLine ended the process, finalLine is what its command line says in the end, and
	// errorLine the last error in its log.
	panicLine, finalLine, errorLine string
	upgrade                         *api.Upgrade
	// handlerMissing is an applied upgrade that the binary does not have, tooEarly one that it has
	// before it is due.
	handlerMissing, tooEarly string
	// divergence is the block that the process refuses, and doubted the height of one that a single
	// proposer has made and that it did not vote for.
	divergence *api.Divergence
	doubted    int64
	halted     bool
	noSpace    bool
}

// message is the line that tells most about the end.
func (f findings) message() string { return cmp.Or(f.panicLine, f.finalLine, f.errorLine) }

func (o *output) said() findings {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.findings
}

// last is when something was written last.
func (o *output) last() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.at
}

// stream is one of the two outputs of a process.
func (o *output) stream(to io.Writer) io.Writer {
	if to == nil {
		to = io.Discard
	}
	s := &stream{output: o, to: to}
	o.streams = append(o.streams, s)
	return s
}

// finish reads the lines that were never completed and gives all that was found.
func (o *output) finish() findings {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.streams {
		o.findings.read(s.line)
		s.line = nil
	}
	return o.findings
}

type stream struct {
	output *output
	to     io.Writer
	line   []byte // the beginning of the line that is not complete yet
}

// Write passes p on before it is looked at. A log that cannot be written must not end the
// node, so that no error is ever returned.
func (s *stream) Write(p []byte) (int, error) {
	_, _ = s.to.Write(p)
	n := len(p)
	s.output.mu.Lock()
	defer s.output.mu.Unlock()
	s.output.at = time.Now()
	for {
		part, rest, complete := bytes.Cut(p, []byte("\n"))
		if !complete {
			s.keep(part)
			return n, nil
		}
		if len(s.line) == 0 {
			s.output.findings.read(part[:min(len(part), maxLine)])
		} else {
			s.keep(part)
			s.output.findings.read(s.line)
			s.line = s.line[:0]
		}
		p = rest
	}
}

func (s *stream) keep(part []byte) {
	s.line = append(s.line, part[:min(len(part), maxLine-len(s.line))]...)
}

// upgradeNeeded is how the upgrade module says, in plain text and at the beginning of a
// line, that it needs another binary.
var upgradeNeeded = regexp.MustCompile(`^(?:panic: )?UPGRADE "([^"]+)" NEEDED at height:? ?(\d+)(?:: (.*))?`)

// handlerMissing and tooEarly are how the upgrade module says that a binary is too old or too new for
// the state. Loggers escape the quotes.
var (
	handlerMissing = regexp.MustCompile(`Wrong app version \d+, upgrade handler is missing for (.+) upgrade plan`)
	tooEarly       = regexp.MustCompile(`BINARY UPDATED BEFORE TRIGGER! UPGRADE \\?"([^"\\]+)\\?" - in binary but not executed on chain`)
)

// The words by which lines are known. Errors are written in three formats.
var (
	wordUpgrade = []byte(`UPGRADE "`)
	wordMissing = []byte("upgrade handler is missing for ")
	wordEarly   = []byte("BINARY UPDATED BEFORE TRIGGER")
	wordHalting = []byte("halting node per configuration")
	wordNoSpace = []byte("no space left on device")
	panics      = [][]byte{[]byte("panic: "), []byte("fatal error: ")}
	errorsBegin = [][]byte{[]byte("Error: ")}
	errorsHold  = [][]byte{[]byte("level=ERROR"), []byte(`"level":"ERROR"`), []byte(`"level":"error"`), []byte(" ERR ")}
)

// read looks at one line.
func (f *findings) read(line []byte) {
	line = bytes.TrimRight(line, "\r")
	switch {
	case bytes.Contains(line, wordMissing):
		f.handlerMissing = cmp.Or(first(handlerMissing, line), f.handlerMissing)
	case bytes.Contains(line, wordEarly):
		f.tooEarly = cmp.Or(first(tooEarly, line), f.tooEarly)
	case bytes.Contains(line, wordUpgrade):
		f.readUpgrade(line)
	case bytes.Contains(line, wordHalting):
		f.halted = true
	case bytes.Contains(line, wordNoSpace):
		f.noSpace = true
	case bytes.Contains(line, wordWrong):
		f.readDivergence(line)
	case bytes.Contains(line, wordFinalized):
		f.doubted = 0
	}
	switch {
	case begins(line, panics):
		f.panicLine = text(line)
	case begins(line, errorsBegin):
		f.finalLine = text(line)
	case holds(line, errorsHold):
		f.errorLine = text(line)
	}
}

// first is the first group of an expression; empty when a line does not match.
func first(expression *regexp.Regexp, line []byte) string {
	m := expression.FindSubmatch(line)
	if m == nil {
		return ""
	}
	return text(m[1])
}

func (f *findings) readUpgrade(line []byte) {
	m := upgradeNeeded.FindSubmatch(line)
	if m == nil {
		return
	}
	height, err := strconv.ParseInt(string(m[2]), 10, 64)
	if err != nil {
		return
	}
	f.upgrade = &api.Upgrade{Name: string(m[1]), Height: height, Info: text(m[3])}
}

func begins(line []byte, words [][]byte) bool {
	for _, w := range words {
		if bytes.HasPrefix(line, w) {
			return true
		}
	}
	return false
}

func holds(line []byte, words [][]byte) bool {
	for _, w := range words {
		if bytes.Contains(line, w) {
			return true
		}
	}
	return false
}

// text is a line as it is kept: short, and valid for JSON.
func text(line []byte) string {
	return string(bytes.ToValidUTF8(line[:min(len(line), maxMessage)], []byte("?")))
}
