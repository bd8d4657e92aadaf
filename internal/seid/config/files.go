package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// FileName is one of the configuration files. No other file is ever touched.
type FileName string

// The files of a node's configuration.
const (
	ConfigToml FileName = "config.toml"
	AppToml    FileName = "app.toml"
	ClientToml FileName = "client.toml"
)

// FileNames lists the files in the order in which they are written.
func FileNames() []FileName { return []FileName{ConfigToml, AppToml, ClientToml} }

// Files is a node's configuration. A nil tree is a file that does not exist.
// Functions of this package never change the trees they are given.
type Files struct {
	Config Tree
	App    Tree
	Client Tree
}

func (f *Files) slot(name FileName) (*Tree, error) {
	switch name {
	case ConfigToml:
		return &f.Config, nil
	case AppToml:
		return &f.App, nil
	case ClientToml:
		return &f.Client, nil
	}
	return nil, fmt.Errorf("unknown file %q: want one of config.toml, app.toml, client.toml", name)
}

func (f Files) tree(name FileName) Tree {
	slot, err := f.slot(name)
	if err != nil {
		return nil
	}
	return *slot
}

// clone returns files that share nothing with f.
func (f Files) clone() Files {
	return Files{Config: f.Config.clone(), App: f.App.clone(), Client: f.Client.clone()}
}

// lookup returns what is at a place.
func (f Files) lookup(p Place) (any, bool) { return f.tree(p.File).get(p.Path) }

// set writes a value to a place; a missing file begins empty.
func (f *Files) set(p Place, value any) error {
	slot, err := f.slot(p.File)
	if err != nil {
		return err
	}
	if *slot == nil {
		*slot = Tree{}
	}
	if err := slot.set(p.Path, value); err != nil {
		return fmt.Errorf("%s: %w", p.File, err)
	}
	return nil
}

// Parse decodes the contents of files by their names.
func Parse(contents map[FileName][]byte) (Files, error) {
	var f Files
	for name, data := range contents {
		slot, err := f.slot(name)
		if err != nil {
			return Files{}, err
		}
		if *slot, err = parseTree(data); err != nil {
			return Files{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	return f, nil
}

// Encode gives the contents of the files that exist. Equal files give equal
// bytes.
func (f Files) Encode() (map[FileName][]byte, error) {
	out := map[FileName][]byte{}
	for _, name := range FileNames() {
		tree := f.tree(name)
		if tree == nil {
			continue
		}
		data, err := tree.encode()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = data
	}
	return out, nil
}

// Read reads the files in a node's config directory. A file that is not there
// becomes a nil tree.
func Read(dir string) (Files, error) {
	contents := map[FileName][]byte{}
	for _, name := range FileNames() {
		data, err := readFile(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Files{}, fmt.Errorf("reading configuration: %w", err)
		}
		contents[name] = data
	}
	f, err := Parse(contents)
	if err != nil {
		return Files{}, fmt.Errorf("reading configuration: %w", err)
	}
	return f, nil
}

// Write replaces the files in a node's config directory by those in f that are
// not nil. All are staged and on disk before the first one is renamed, so a full
// disk or a crash leaves whole files. Files whose content would not change are
// left alone.
func Write(dir string, f Files) error {
	contents, err := f.Encode()
	if err != nil {
		return fmt.Errorf("writing configuration: %w", err)
	}
	staged := map[FileName]string{}
	defer func() {
		for _, temp := range staged {
			_ = os.Remove(temp) // gone already unless something went wrong
		}
	}()
	for name, data := range contents {
		if current, err := readFile(dir, name); err == nil && bytes.Equal(current, data) {
			continue
		}
		temp, err := stage(dir, name, data)
		if temp != "" {
			staged[name] = temp
		}
		if err != nil {
			return fmt.Errorf("writing configuration: %w", err)
		}
	}
	for _, name := range FileNames() {
		if temp, ok := staged[name]; ok {
			if err := os.Rename(temp, filepath.Join(dir, string(name))); err != nil {
				return fmt.Errorf("writing configuration: %w", err)
			}
		}
	}
	if len(staged) == 0 {
		return nil
	}
	return syncDir(dir)
}

// readFile follows no link. seid may write to the directory, and what is read here is copied and
// quoted where seid can see it: a link could lead to what only the reader may see.
func readFile(dir string, name FileName) ([]byte, error) {
	f, err := os.OpenFile(filepath.Join(dir, string(name)), os.O_RDONLY|syscall.O_NOFOLLOW, 0) //nolint:gosec // the names are ours
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(f)
}

// stage writes a file under a temporary name beside its place.
func stage(dir string, name FileName, data []byte) (string, error) {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(filepath.Join(dir, string(name))); err == nil {
		mode = info.Mode().Perm()
	}
	temp, err := os.CreateTemp(dir, tempPrefix+string(name)+"-*")
	if err != nil {
		return "", err
	}
	_, err = temp.Write(data)
	return temp.Name(), errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
}

// tempPrefix starts the names of files that nobody needs after a crash.
const tempPrefix = ".sei-tmp-"

func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the node's own directory
	if err != nil {
		return fmt.Errorf("syncing the config directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("syncing the config directory: %w", err)
	}
	return nil
}

// parseFileName reads the file part of a raw key or of a patch.
func parseFileName(s string) (FileName, error) {
	name := FileName(s)
	if _, err := (&Files{}).slot(name); err != nil {
		if strings.ContainsAny(s, `/\`) {
			return "", fmt.Errorf("file %q is a path: want one of config.toml, app.toml, client.toml", s)
		}
		return "", err
	}
	return name, nil
}
