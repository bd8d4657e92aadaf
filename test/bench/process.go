package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of CPU times in /proc; Linux fixes it for programs.
const ticksPerSecond = 100

// cpuTime is the CPU time a process has used since its start.
func cpuTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading CPU time: %w", err)
	}
	return parseCPU(stat)
}

// parseCPU reads utime and stime, the 14th and 15th field. The second, the program's
// name, may hold spaces, so they are counted from its end.
func parseCPU(stat []byte) (time.Duration, error) {
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	if end < 0 || len(fields) < 13 {
		return 0, errors.New("reading CPU time: unknown format of /proc/PID/stat")
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading CPU time: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// memory is a process's resident memory now and at its peak, in bytes.
func memory(pid int) (now, peak int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, fmt.Errorf("reading memory use: %w", err)
	}
	if now, err = parseMemory(status, "VmRSS"); err != nil {
		return 0, 0, err
	}
	peak, err = parseMemory(status, "VmHWM")
	return now, peak, err
}

// programMemory is how much of a process's resident memory is files, its own program above all.
func programMemory(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("reading memory use: %w", err)
	}
	file, err := parseMemory(status, "RssFile")
	if err != nil {
		return 0, err
	}
	shared, err := parseMemory(status, "RssShmem") // the program lies in memory itself
	return file + shared, err
}

func parseMemory(status []byte, field string) (int64, error) {
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if name != field {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", field, err)
		}
		return kib << 10, nil
	}
	return 0, fmt.Errorf("reading %s: it is not in /proc/PID/status", field)
}

// loadAverage is the machine's load over the last minute: how much company a run had.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return load
}
