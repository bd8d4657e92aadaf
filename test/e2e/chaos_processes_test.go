package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// clusterProcess is a process of the cluster as the machine sees it, which needs no API server.
type clusterProcess struct {
	pid, parent int
	// started tells it from another process that gets the same number later.
	started string
	command []string
}

// is reports whether the command line begins so.
func (p clusterProcess) is(command ...string) bool {
	return len(p.command) >= len(command) && slices.Equal(p.command[:len(command)], command)
}

// isSeid leaves out trial starts, which have a home of their own.
func (p clusterProcess) isSeid() bool {
	return p.is("seid", "start") && !slices.ContainsFunc(p.command, func(word string) bool { return strings.HasSuffix(word, "/tmp/trial") })
}

// firstProcess is the one that all others of the cluster descend from. It starts components again that have ended.
func (c *cluster) firstProcess() (int, error) {
	record, err := os.ReadFile(filepath.Join(c.state, "cluster.json"))
	if err != nil {
		return 0, fmt.Errorf("reading the cluster's record: %w", err)
	}
	var first struct{ PID int }
	if err := json.Unmarshal(record, &first); err != nil {
		return 0, fmt.Errorf("reading the cluster's record: %w", err)
	}
	return first.PID, nil
}

// descendants are the processes that descend from another one.
func descendants(first int) []clusterProcess {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	all := map[int]clusterProcess{}
	for _, file := range files {
		if p, ok := readProcess(filepath.Dir(file)); ok {
			all[p.pid] = p
		}
	}
	var found []clusterProcess
	for _, p := range all {
		for up := p; up.pid != 0; up = all[up.parent] {
			if up.parent == first {
				found = append(found, p)
				break
			}
		}
	}
	slices.SortFunc(found, func(a, b clusterProcess) int { return a.pid - b.pid })
	return found
}

func readProcess(dir string) (p clusterProcess, ok bool) {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return p, false // it has ended meanwhile
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before may hold anything
	fields := strings.Fields(rest)
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(fields) < 20 {
		return p, false
	}
	p.started = fields[19]
	p.parent, err = strconv.Atoi(fields[1])
	if err != nil {
		return p, false
	}
	p.pid, err = strconv.Atoi(filepath.Base(dir))
	p.command = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	return p, err == nil
}

var (
	volumeInMounts = regexp.MustCompile(`/volumes/(pvc-[0-9a-f-]+)`)
	podInGroup     = regexp.MustCompile(`/pod([0-9a-f-]{36})`)
)

// volume is the data volume that the process has mounted.
func (p clusterProcess) volume() string { return p.find("mountinfo", volumeInMounts) }

// pod is the UID of its pod.
func (p clusterProcess) pod() string { return p.find("cgroup", podInGroup) }

func (p clusterProcess) find(file string, pattern *regexp.Regexp) string {
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), file))
	if err != nil {
		return ""
	}
	if found := pattern.FindSubmatch(content); found != nil {
		return string(found[1])
	}
	return ""
}
