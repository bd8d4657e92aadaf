// Package multicall lets one binary be many programs: it picks the program by the name it was called by.
// It knows nothing about the programs themselves, so its tests link none of them.
package multicall

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Program is one of the things a multi-call binary can be.
type Program struct {
	// Name is the base name of the symlink, or the first argument, that selects the program.
	Name string
	// About says in a few words what the program is, for the usage text.
	About string
	// Main runs the program with os.Args in the shape the program expects, and returns its exit code.
	Main func() int
}

// Table lists the programs in the order the usage text shows them.
type Table []Program

// Run starts the program that args asks for: by the base name of args[0], or else by args[1].
// The program sees os.Args as if it had been started on its own. Without a match the usage text goes to errOut
// and the result is 2, the shell's code for wrong usage.
func Run(table Table, args []string, errOut io.Writer) int {
	program, rest, ok := table.pick(args)
	if !ok {
		_, _ = io.WriteString(errOut, table.usage(args))
		return 2
	}
	os.Args = rest
	return program.Main()
}

// pick finds the program and the arguments it should see; the first of them is always its name.
func (t Table) pick(args []string) (Program, []string, bool) {
	for skip := range min(2, len(args)) {
		name := args[skip]
		if skip == 0 {
			name = filepath.Base(name)
		}
		for _, p := range t {
			if p.Name == name {
				return p, args[skip:], true
			}
		}
	}
	return Program{}, nil, false
}

// usage explains both ways of choosing and, where there was an unknown choice, names it.
func (t Table) usage(args []string) string {
	var b strings.Builder
	if len(args) > 1 {
		fmt.Fprintf(&b, "unknown component %q\n", args[1])
	}
	b.WriteString("usage: cluster COMPONENT [ARGUMENT...], or a symlink named after the component\ncomponents:\n")
	for _, p := range t {
		fmt.Fprintf(&b, "  %-26s %s\n", p.Name, p.About)
	}
	return b.String()
}
