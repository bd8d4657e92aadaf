package leftovers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RemoveExcept empties a directory but for some files and directories, and the directories they are in.
func RemoveExcept(ctx context.Context, dir string, kept []string) error {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(resolved)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(resolved, e.Name())
		var err error
		switch {
		case slices.Contains(kept, path):
		case slices.ContainsFunc(kept, func(k string) bool { return Within(k, path) }):
			err = RemoveExcept(ctx, path, kept)
		default:
			err = os.RemoveAll(path)
		}
		if err := errors.Join(ctx.Err(), err); err != nil {
			return err
		}
	}
	return nil
}

// RealPaths are the places of files without symbolic links on the way, and what a file
// that is a link itself points at.
func RealPaths(files []string) []string {
	var found []string
	for _, file := range files {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
			found = append(found, filepath.Join(dir, filepath.Base(file)))
		}
		if target, err := filepath.EvalSymlinks(file); err == nil {
			found = append(found, target)
		}
	}
	return found
}

// Within reports whether a path is below a directory.
func Within(path, dir string) bool {
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}
