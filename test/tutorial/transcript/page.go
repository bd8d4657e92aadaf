// Package transcript reads the commands of a page of documentation with the output that the page shows, tells whether
// another output still fits, and writes outputs into the page. It runs nothing.
//
// A fenced block with the info string console is a session at a terminal. A line that begins with "$ " is a command,
// continued while a line ends with a backslash; what follows, up to the next command, is its output. A command of a block
// marked "console watch" has no output: it runs beside the commands of the block that follows. Blocks with other info
// strings are for the reader alone.
package transcript

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	fence     = "```"
	session   = fence + "console"
	watch     = session + " watch"
	prompt    = "$ "
	continued = `\`
)

// Step is a command of a page.
type Step struct {
	// Line is the number of its first line in the page.
	Line int
	// Block counts the blocks of the page that hold commands; watches belong to the block that follows theirs.
	Block int
	// Command is what a shell runs.
	Command string
	// Watch is whether it runs beside the other commands of its block.
	Watch bool
	// Output are the lines that the page shows.
	Output []string
	// output is the index of the line of the page where they begin.
	output int
}

// Fails reports whether the page shows that the command fails.
func (s *Step) Fails() bool {
	return slices.ContainsFunc(s.Output, func(line string) bool {
		return strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "Error: ")
	})
}

// Page is a page with commands.
type Page struct {
	Steps []Step
	lines []string
}

// Parse reads a page.
func Parse(text string) (*Page, error) {
	page := &Page{lines: strings.Split(text, "\n")}
	block := 0
	for at := 0; at < len(page.lines); at++ {
		info := page.lines[at]
		if !strings.HasPrefix(info, fence) {
			continue
		}
		end := slices.Index(page.lines[at+1:], fence)
		if end < 0 {
			return nil, fmt.Errorf("line %d: the block has no end", at+1)
		}
		end += at + 1
		if info == session || info == watch {
			if err := page.parseBlock(at+1, end, block, info == watch); err != nil {
				return nil, err
			}
		}
		if info == session {
			block++
		}
		at = end
	}
	if last := len(page.Steps) - 1; last >= 0 && page.Steps[last].Watch {
		return nil, fmt.Errorf("line %d: no block with commands follows the watch", page.Steps[last].Line)
	}
	return page, nil
}

// parseBlock reads the lines from begin up to end, which is not one of them.
func (p *Page) parseBlock(begin, end, block int, watch bool) error {
	for at := begin; at < end; {
		first, ok := strings.CutPrefix(p.lines[at], prompt)
		if !ok {
			return fmt.Errorf("line %d: a block begins with a command, after %q", at+1, prompt)
		}
		step := Step{Line: at + 1, Block: block, Watch: watch, Command: first}
		for strings.HasSuffix(step.Command, continued) && at+1 < end {
			at++
			step.Command += "\n" + p.lines[at]
		}
		at++
		step.output = at
		for at < end && !strings.HasPrefix(p.lines[at], prompt) {
			at++
		}
		step.Output = p.lines[step.output:at:at]
		if watch && len(step.Output) > 0 {
			return fmt.Errorf("line %d: a watch has no output in the page", step.Line)
		}
		p.Steps = append(p.Steps, step)
	}
	return nil
}

// Rewrite is the page with other outputs, by the number of the step.
func (p *Page) Rewrite(outputs map[int][]string) (string, error) {
	lines := slices.Clone(p.lines)
	for i, step := range slices.Backward(p.Steps) {
		output, ok := outputs[i]
		if !ok {
			continue
		}
		if slices.ContainsFunc(output, func(line string) bool { return strings.HasPrefix(line, fence) || strings.HasPrefix(line, prompt) }) {
			return "", fmt.Errorf("line %d: %w", step.Line, errMarkup)
		}
		lines = slices.Replace(lines, step.output, step.output+len(step.Output), output...)
	}
	return strings.Join(lines, "\n"), nil
}

var errMarkup = errors.New("the output would be read as a command or as the end of its block")
