package test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// snapshot is what a cluster could leave behind on the machine, by kind.
type snapshot map[string][]string

// without lists what s holds beyond another snapshot: an entry that both hold once and s twice is listed once.
func (s snapshot) without(other snapshot) []string {
	var found []string
	for _, kind := range slices.Sorted(maps.Keys(s)) {
		known := map[string]int{}
		for _, entry := range other[kind] {
			known[entry]++
		}
		for _, entry := range s[kind] {
			if known[entry]--; known[entry] < 0 {
				found = append(found, kind+": "+entry)
			}
		}
	}
	return found
}

// takeSnapshot looks at the whole machine, not at what the cluster knows it made.
func takeSnapshot(t *testing.T) snapshot {
	t.Helper()
	return snapshot{
		"processes": namespacedProcesses(t),
		"mounts":    mounts(t),
		"links":     run(t, "ip", "-oneline", "link", "show"),
		"addresses": run(t, "ip", "-oneline", "addr", "show"),
		"routes":    run(t, "ip", "route", "show", "table", "all"),
		"rules":     append(rules(t, "iptables-save"), rules(t, "iptables-legacy-save")...),
		"cgroups":   cgroups(),
		"settings":  settings(),
		"folders":   folders(),
	}
}

// namespacedProcesses lists processes outside the machine's own process namespace: those of any cluster.
func namespacedProcesses(t *testing.T) []string {
	t.Helper()
	own, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	links, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
	var found []string
	for _, link := range links {
		namespace, err := os.Readlink(link)
		if err != nil || namespace == own {
			continue // ended since it was listed, or the machine's
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(link)), "cmdline"))
		found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
	}
	slices.Sort(found)
	return found
}

// mounts leaves out the leading numbers, which the kernel hands out as it likes.
func mounts(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		found = append(found, strings.Join(fields[3:], " "))
	}
	slices.Sort(found)
	return found
}

// rules leaves out the packet counters and the comments with the time.
func rules(t *testing.T, command string) []string {
	t.Helper()
	if _, err := exec.LookPath(command); err != nil {
		return nil // not installed, so nobody can have made any
	}
	var found []string
	for _, line := range run(t, command) {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rule, _, _ := strings.Cut(line, " [")
		found = append(found, rule)
	}
	return found
}

func cgroups() []string {
	var found []string
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(path, "sei-cluster") {
			found = append(found, path)
		}
		return nil
	})
	// Under version 1 the top is an ordinary folder, where a stray write makes a file.
	top, _ := filepath.Glob("/sys/fs/cgroup/*")
	return append(found, top...)
}

// settings are those kernel settings that kubelets and proxies like to change.
func settings() []string {
	names := []string{
		"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys",
		"kernel/keys/root_maxbytes", "net/ipv4/ip_forward", "net/netfilter/nf_conntrack_max",
	}
	found := make([]string, 0, len(names))
	for _, name := range names {
		value, _ := os.ReadFile("/proc/sys/" + name)
		found = append(found, name+"="+strings.TrimSpace(string(value)))
	}
	return found
}

func folders() []string {
	var found []string
	for _, path := range []string{"/var/lib/kubelet", "/var/lib/cni", "/var/log/containers", "/var/log/pods", "/run/containerd", "/run/netns"} {
		if _, err := os.Stat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

func run(t *testing.T, name string, args ...string) []string {
	t.Helper()
	// Not the test's context: clean-ups call this too.
	out, err := exec.CommandContext(context.Background(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
