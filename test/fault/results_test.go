package fault

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// results are kept while a long series of runs continues, so that it can be interrupted: one line for
// each run that has ended. They belong to this very code, which is the test binary.
type results struct {
	mu   sync.Mutex
	file *os.File
}

// openResults opens the results of this code and gives what passed already. What failed is made
// again. Results of other code are removed.
func openResults(folder string, id string) (*results, []result, error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, nil, fmt.Errorf("making a folder for results: %w", err)
	}
	if err := removeOthers(folder, id+".jsonl"); err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(filepath.Join(folder, id+".jsonl"), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the results: %w", err)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("reading the results: %w", err), file.Close())
	}
	if n := len(content); n > 0 && content[n-1] != '\n' { // the last line was cut off
		if _, err := file.WriteString("\n"); err != nil {
			return nil, nil, errors.Join(fmt.Errorf("ending a line of the results: %w", err), file.Close())
		}
	}
	return &results{file: file}, passed(content), nil
}

func removeOthers(folder, name string) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("reading the folder of results: %w", err)
	}
	for _, f := range files {
		if f.Name() == name {
			continue
		}
		if err := os.Remove(filepath.Join(folder, f.Name())); err != nil {
			return fmt.Errorf("removing results of other code: %w", err)
		}
	}
	return nil
}

// passed are the runs whose last result is a good one. A line that is not whole was being written
// when the test ended.
func passed(content []byte) []result {
	last := map[string]result{}
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		var one result
		if json.Unmarshal(lines.Bytes(), &one) == nil {
			last[one.Run] = one
		}
	}
	var found []result
	for _, one := range last {
		if !one.Failed {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b result) int { return cmp.Compare(a.Run, b.Run) })
	return found
}

// add writes a result down; nil results are not kept.
func (r *results) add(one result) error {
	if r == nil {
		return nil
	}
	line, err := json.Marshal(one)
	if err != nil {
		return fmt.Errorf("encoding a result: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing a result: %w", err)
	}
	return nil
}

func (r *results) close() error {
	if r == nil {
		return nil
	}
	return r.file.Close()
}

// codeID names this test binary, the Kubernetes it runs on, and how strict it is about silence.
func codeID(reconciles int) (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the test binary: %w", err)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the test binary: %w", err)
	}
	kubernetes, err := envtest.Assets()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(binary, "%s %d", kubernetes, reconciles))
	return hex.EncodeToString(sum[:8]), nil
}
