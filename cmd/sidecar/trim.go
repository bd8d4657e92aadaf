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
	// gcPercent limits the garbage of a look at the node to a few hundred kilobytes. Otherwise half
	// of the memory of an idle process would be garbage. The CPU cost does not matter: the process
	// is bound by network and disk.
	gcPercent = 10
	// trimEvery is how often a process releases memory that it no longer uses: as often as the
	// sidecar looks at its node by itself.
	trimEvery = 15 * time.Second
)

// trimUntil trims periodically until ctx ends. Start-up, most tasks and a look at the node touch
// code and memory that an idle process does not need again.
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

// trim releases unused memory, and unmaps the pages of the binary's own code until they are needed
// again. Those are read back from the page cache on demand.
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
		// This is only advice: if the kernel ignores it, nothing changes.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, area.start, area.end-area.start, syscall.MADV_DONTNEED)
	}
}

type area struct{ start, end uintptr }

// readOnlyAreas returns the parts of memory that are mapped read-only from the file, so that
// dropping them loses nothing.
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
