// Command snoop is what somebody runs who has taken over a container: it looks for secrets wherever its user gets to, in
// files, environments, memory and through the roots of other processes, and prints where it has found which. It is given
// the beginnings of the secrets as NAME=VALUE, and with plant=FILE=VALUE writes a file instead.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile bounds the files that are read. Databases are larger, and hold no keys.
const maxFile = 4 << 20

// report is what the snoop prints.
type report struct {
	// Found are places by the name of the secret that is there.
	Found map[string][]string
	// Processes are the others that are visible, and what of them could be opened.
	Processes []seen
	// Files counts what could be read.
	Files int
}

type seen struct {
	PID           int
	Command       string
	Environ, Root bool
	Memory        bool
}

type snoop struct {
	report
	secrets map[string][]byte
}

func main() {
	input, err := io.ReadAll(os.Stdin)
	if err == nil && len(os.Args) > 1 {
		err = os.WriteFile(os.Args[1], input, 0o600)
	} else if err == nil {
		err = snoopFor(input)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// snoopFor looks for secrets, which it is given by name, and prints where they are.
func snoopFor(input []byte) error {
	var secrets map[string]string
	if err := json.Unmarshal(input, &secrets); err != nil {
		return fmt.Errorf("reading what to look for: %w", err)
	}
	p := &snoop{secrets: map[string][]byte{}}
	p.Found = map[string][]string{}
	for name, value := range secrets {
		p.secrets[name] = []byte(value)
	}
	p.walk("/")
	p.processes()
	if err := json.NewEncoder(os.Stdout).Encode(p.report); err != nil {
		return fmt.Errorf("telling what was found: %w", err)
	}
	return nil
}

// look notes which secrets are in what was read.
func (p *snoop) look(place string, content []byte) {
	for _, name := range slices.Sorted(maps.Keys(p.secrets)) {
		if bytes.Contains(content, p.secrets[name]) && !slices.Contains(p.Found[name], place) {
			p.Found[name] = append(p.Found[name], place)
		}
	}
}

// walk reads the files below a directory.
func (p *snoop) walk(root string) {
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		inside := strings.TrimPrefix(path, strings.TrimSuffix(root, "/"))
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be opened is not found
		case e.IsDir() && (inside == "/proc" || inside == "/sys" || inside == "/dev"):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
			return nil //nolint:nilerr // as above
		}
		if content, err := os.ReadFile(path); err == nil {
			p.Files++
			p.look(path, content)
		}
		return nil
	})
}

func (p *snoop) processes() {
	own, _ := os.Readlink("/proc/self/ns/mnt")
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), "%d", &pid); err != nil || pid == os.Getpid() {
			continue // its own arguments name the secrets
		}
		command, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil {
			continue
		}
		s := seen{PID: pid, Command: strings.TrimSpace(string(command))}
		for _, file := range []string{"environ", "cmdline"} {
			content, err := os.ReadFile(filepath.Join(dir, file))
			s.Environ = s.Environ || err == nil && file == "environ"
			p.look(filepath.Join(dir, file), content)
		}
		s.Memory = p.memory(dir)
		if _, err := os.ReadDir(filepath.Join(dir, "root")); err == nil {
			s.Root = true
			if mounts, _ := os.Readlink(filepath.Join(dir, "ns", "mnt")); mounts != own {
				p.walk(filepath.Join(dir, "root"))
			}
		}
		p.Processes = append(p.Processes, s)
	}
}
