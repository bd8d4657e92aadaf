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

// releaseStartupPages takes the binary's own code out of this process's memory
// until it is needed again. Starting the storage SDKs touches most of a large
// binary once; after that an idle sidecar uses little of it. What is needed
// comes back from the page cache by itself.
func releaseStartupPages(log *slog.Logger) {
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

// trimFirst is when a process has done what it does when it starts, and trimEvery how often
// it gives back what it does not use from then on. The binary's own code is given back more
// often: a look at the node, a few times a minute, brings back little that it needs, but the
// kernel maps whole runs of its cache around each page, more than ten megabytes in all. To
// give them back takes microseconds, and the cache keeps them.
const (
	trimFirst    = 10 * time.Second
	trimEvery    = time.Minute
	releaseEvery = 2 * time.Second
)

// trim gives back memory that is not in use.
func trim(log *slog.Logger) {
	debug.FreeOSMemory()
	releaseStartupPages(log)
}

// trimUntil trims every now and then: each request and each poll brings back some of the
// binary, a little at a time, and most of it is not needed again.
func trimUntil(ctx context.Context, log *slog.Logger) {
	release := time.NewTicker(releaseEvery)
	defer release.Stop()
	next := time.After(trimFirst)
	for {
		select {
		case <-ctx.Done():
			return
		case <-release.C:
			releaseStartupPages(log)
		case <-next:
			trim(log)
			next = time.After(trimEvery)
		}
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
