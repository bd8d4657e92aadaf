package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// overlay tells the compiler which files to read instead of others.
type overlay struct {
	dir     string
	replace map[string]string
}

func newOverlay(dir string) *overlay { return &overlay{dir: dir, replace: map[string]string{}} }

// put makes the compiler read text in place of a file, whether the file exists or not.
func (o *overlay) put(file string, text []byte) error {
	changed := filepath.Join(o.dir, fmt.Sprintf("%d.go", len(o.replace)))
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		return fmt.Errorf("writing a changed file: %w", err)
	}
	o.replace[file] = changed
	return nil
}

// write writes the overlay and returns its path.
func (o *overlay) write() (string, error) {
	text, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		return "", fmt.Errorf("encoding the overlay: %w", err)
	}
	list := filepath.Join(o.dir, "overlay.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return "", fmt.Errorf("writing the overlay: %w", err)
	}
	return list, nil
}

// all makes an overlay with every mutant that can be selected at run time. The others each need a build of their
// own and are returned.
func all(root, dir string, mutants []*mutant) (list string, apart []*mutant, err error) {
	byFile := map[string][]*mutant{}
	for _, m := range mutants {
		byFile[m.File] = append(byFile[m.File], m)
	}
	o, packages := newOverlay(dir), map[string]string{}
	for file, some := range byFile {
		s, outside, err := read(root, file, some)
		if err != nil {
			return "", nil, err
		}
		apart = append(apart, outside...)
		if len(outside) == len(some) {
			continue
		}
		text, err := s.choosing()
		if err != nil {
			return "", nil, err
		}
		if err := o.put(filepath.Join(root, file), text); err != nil {
			return "", nil, err
		}
		packages[path.Dir(file)] = s.file.Name.Name
	}
	for dir, name := range packages {
		if err := o.put(filepath.Join(root, dir, "zz_mutants.go"), chooser(name)); err != nil {
			return "", nil, err
		}
	}
	slices.SortFunc(apart, byID)
	list, err = o.write()
	return list, apart, err
}

// one makes an overlay with a single mutant.
func one(root, dir string, m *mutant) (string, error) {
	text, err := m.apply(root)
	if err != nil {
		return "", err
	}
	o := newOverlay(dir)
	if err := o.put(filepath.Join(root, m.File), []byte(text)); err != nil {
		return "", err
	}
	return o.write()
}
