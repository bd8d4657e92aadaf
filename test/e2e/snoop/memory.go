package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// window is how much memory is looked at in one go, and overlap what two of them share, so that no secret is cut in two.
const (
	window  = 4 << 20
	overlap = 4 << 10
)

// memory looks through what a process has written to, and reports whether it could be read.
func (p *snoop) memory(dir string) bool {
	maps, err := os.ReadFile(filepath.Join(dir, "maps"))
	if err != nil {
		return false
	}
	memory, err := os.Open(filepath.Join(dir, "mem"))
	if err != nil {
		return false
	}
	defer func() { _ = memory.Close() }()
	buffer, read := make([]byte, window), false
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n != 3 || !strings.HasPrefix(mode, "rw") {
			continue
		}
		for at := from; at < to; at += window - overlap {
			n, err := memory.ReadAt(buffer[:min(window, to-at)], at)
			read = read || n > 0
			p.look(filepath.Join(dir, "mem"), buffer[:n])
			if err != nil {
				break
			}
		}
	}
	return read
}
