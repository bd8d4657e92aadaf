package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

// Record is what the machine remembers of a cluster. It is written before the node starts, so a crash at any
// moment leaves enough to clean up by.
type Record struct {
	Version string `json:"version"`
	Network string `json:"network"`
	// PID and Started identify the node's first process; numbers alone are used again.
	PID     int    `json:"pid,omitempty"`
	Started uint64 `json:"started,omitempty"`
	// Made are the mount points that did not exist before.
	Made []string `json:"made,omitempty"`
}

// NewRecord makes a folder a cluster's. The folder must be empty: one day down removes all that is in it.
func NewRecord(l layout.Layout, version string) (*Record, error) {
	entries, err := os.ReadDir(l.Dir)
	if err != nil {
		return nil, fmt.Errorf("reading the state folder: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%s holds other things (%s): choose a new or empty folder as --state-dir", l.Dir, entries[0].Name())
	}
	r := &Record{Version: version, Network: l.Network.String()}
	return r, r.write(l)
}

// ReadRecord returns nil without an error where there is no cluster.
func ReadRecord(l layout.Layout) (*Record, error) {
	data, err := os.ReadFile(l.Record())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the cluster's record: %w", err)
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("reading the cluster's record %s: %w", l.Record(), err)
	}
	return &r, nil
}

func (r *Record) write(l layout.Layout) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the cluster's record: %w", err)
	}
	// Written aside and renamed: a half-written record would make the next command fail.
	aside := l.Record() + ".new"
	if err := os.WriteFile(aside, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the cluster's record: %w", err)
	}
	if err := os.Rename(aside, l.Record()); err != nil {
		return fmt.Errorf("writing the cluster's record: %w", err)
	}
	return nil
}

// Running tells whether the recorded process is alive and still the same one.
func (r *Record) Running() bool {
	if r == nil || r.PID == 0 {
		return false
	}
	started, state, err := processStart(r.PID)
	return err == nil && started == r.Started && state != "Z"
}

// processStart reads when a process started, in ticks since boot. The process's name may hold anything, blanks and
// brackets too, so the fields are counted from its closing bracket.
func processStart(pid int) (started uint64, state string, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, "", fmt.Errorf("reading the process's state: %w", err)
	}
	_, rest, _ := strings.Cut(string(data[strings.LastIndexByte(string(data), ')'):]), " ")
	fields := strings.Fields(rest)
	const startField = 19
	if len(fields) <= startField {
		return 0, "", fmt.Errorf("reading the process's state: unexpected %q", data)
	}
	started, err = strconv.ParseUint(fields[startField], 10, 64)
	if err != nil {
		return 0, "", fmt.Errorf("reading the process's start time: %w", err)
	}
	return started, fields[0], nil
}

func asAddr(ip net.IP) netip.Addr {
	addr, _ := netip.AddrFromSlice(ip)
	return addr.Unmap()
}
