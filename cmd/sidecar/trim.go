package main

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
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
