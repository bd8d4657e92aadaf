package config

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Tree is one decoded TOML file: tables are map[string]any, integers int64.
type Tree map[string]any

// parseTree decodes a file. Positions are in the error.
func parseTree(data []byte) (Tree, error) {
	tree := Tree{}
	if err := toml.NewDecoder(bytes.NewReader(data)).Decode((*map[string]any)(&tree)); err != nil {
		return nil, fmt.Errorf("parsing: %w", err)
	}
	return tree, nil
}

// encode writes a tree with sorted keys, so equal trees give equal bytes.
func (t Tree) encode() ([]byte, error) {
	var buf bytes.Buffer
	enc := toml.NewEncoder(&buf)
	enc.SetIndentTables(false)
	if err := enc.Encode(map[string]any(t)); err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	return buf.Bytes(), nil
}

func (t Tree) clone() Tree {
	if t == nil {
		return nil
	}
	out, _ := cloneValue(map[string]any(t)).(map[string]any)
	return out
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = cloneValue(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = cloneValue(e)
		}
		return out
	}
	return v
}

// get returns the value at a dotted path.
func (t Tree) get(path string) (any, bool) {
	var node any = map[string]any(t)
	for step := range strings.SplitSeq(path, ".") {
		table, ok := node.(map[string]any)
		if !ok {
			return nil, false
		}
		if node, ok = table[step]; !ok {
			return nil, false
		}
	}
	return node, true
}

// set writes a value at a dotted path and makes the tables on the way.
func (t Tree) set(path string, value any) error {
	steps := strings.Split(path, ".")
	table := map[string]any(t)
	for i, step := range steps[:len(steps)-1] {
		next, ok := table[step]
		if !ok {
			next = map[string]any{}
			table[step] = next
		}
		if table, ok = next.(map[string]any); !ok {
			return fmt.Errorf("%s is a value, not a section", strings.Join(steps[:i+1], "."))
		}
	}
	last := steps[len(steps)-1]
	if _, isTable := table[last].(map[string]any); isTable {
		return fmt.Errorf("%s is a section, not a value", path)
	}
	table[last] = value
	return nil
}

// remove deletes the value or section at a dotted path, if it is there.
func (t Tree) remove(path string) {
	table := map[string]any(t)
	steps := strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		table, _ = table[step].(map[string]any)
	}
	delete(table, steps[len(steps)-1])
}

// leaves lists the paths of all values below the root, sorted.
func (t Tree) leaves() []string {
	var paths []string
	collectLeaves(map[string]any(t), "", &paths)
	slices.Sort(paths)
	return paths
}

func collectLeaves(table map[string]any, prefix string, paths *[]string) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if sub, ok := table[name].(map[string]any); ok && len(sub) > 0 {
			collectLeaves(sub, prefix+name+".", paths)
			continue
		}
		*paths = append(*paths, prefix+name)
	}
}
