package leaks

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Seen counts what was looked through, so that nobody takes an empty folder for a clean one.
type Seen struct {
	Files int
	Bytes int64
}

// ScanTree looks through all files below a folder. A file that goes away meanwhile is none.
func (f *Finder) ScanTree(root string, seen *Seen) (found []Finding, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		found = append(found, f.scan(path, content, seen)...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking through %s: %w", root, err)
	}
	return found, nil
}

// scan looks through one file, and through what it holds if it is compressed.
func (f *Finder) scan(place string, content []byte, seen *Seen) []Finding {
	seen.Files++
	seen.Bytes += int64(len(content))
	found := f.Find(place, content)
	if unpacked, err := gzip.NewReader(bytes.NewReader(content)); err == nil {
		if plain, err := io.ReadAll(unpacked); err == nil {
			seen.Bytes += int64(len(plain))
			found = append(found, f.Find(place+" (unpacked)", plain)...)
		}
	}
	return found
}
