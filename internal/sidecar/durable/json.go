package durable

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteJSON replaces the file at path by value, and makes the file's directory if it has to.
func WriteJSON(path string, value any, mode fs.FileMode) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return WriteFile(path, append(data, '\n'), mode)
}

// ReadJSON reads the file at path into value, and reports whether there is one. Without a file,
// value stays as it is.
func ReadJSON(path string, value any) (bool, error) {
	data, err := os.ReadFile(path) //nolint:gosec // callers name files of the node's home
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", path, err)
	}
	if err := json.Unmarshal(data, value); err != nil {
		return false, fmt.Errorf("reading %s: %w", path, err)
	}
	return true, nil
}
