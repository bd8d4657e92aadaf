package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

const (
	// gcPercent keeps the garbage of a look at the node to a few hundred kilobytes. Half of what
	// an idle process holds would be garbage otherwise; what it does is bound by network and disk.
	gcPercent = 10
	// trimEvery is how often a process gives back what it has not used again: as often as the
	// sidecar looks at its node by itself.
	trimEvery = 15 * time.Second
)

// trimUntil trims every now and then. Starting, most tasks and a look at the node touch code
// and memory that a process which waits does not come back to.
func trimUntil(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			trim(log)
		}
	}
}

// trim gives back memory that is not in use, and takes the binary's own code out of this
// process's memory until it is needed again. That comes back from the page cache by itself.
func trim(log *slog.Logger) {
	debug.FreeOSMemory()
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		log.Debug("keeping start-up pages", "reason", err)
		return
	}
	defer func() { _ = maps.Close() }()
	self, err := os.Executable()
	if err != nil {
		log.Debug("keeping start-up pages", "reason", err)
		return
	}
	for _, area := range readOnlyAreas(maps, self) {
		// Advice only: a kernel that declines changes nothing.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, area.start, area.end-area.start, syscall.MADV_DONTNEED)
	}
}

type area struct{ start, end uintptr }

// readOnlyAreas are the parts of memory that mirror the file and can only be
// read, so that dropping them loses nothing.
func readOnlyAreas(maps io.Reader, file string) []area {
	var areas []area
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 6 || fields[5] != file || fields[1][1] == 'w' {
			continue
		}
		var a area
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &a.start, &a.end); err == nil {
			areas = append(areas, a)
		}
	}
	return areas
}
