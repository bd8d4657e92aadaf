package messages

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Message is one format in the source.
type Message struct {
	// Package is the folder it is in, relative to the root of the repository.
	Package string
	// Function is the function that words it; empty for a package's variable.
	Function string
	// Reasons are those of the condition or event that it is said with; empty for a part of a
	// message, and for an error.
	Reasons []string
	// Format is its text. What is filled in stands as a verb of package fmt, or as {expression}.
	Format string
}

// Collect finds the messages of some folders and what is below them. imported are the folders
// that declare reasons, by the name under which others import them.
func Collect(root string, folders []string, imported map[string]string) ([]Message, error) {
	reasons := map[string]string{}
	for name, folder := range imported {
		files, err := parse(filepath.Join(root, folder))
		if err != nil {
			return nil, fmt.Errorf("collecting reasons of %s: %w", folder, err)
		}
		for _, file := range files {
			reasonConstants(file, name+".", reasons)
		}
	}
	var found []Message
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			relative, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			list, err := inFolder(path, reasons)
			for i := range list {
				list[i].Package = filepath.ToSlash(relative)
			}
			found = append(found, list...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("collecting messages of %s: %w", folder, err)
		}
	}
	return tidy(found), nil
}

// parse reads the sources of one folder, without its tests and without metrics, which have pages of
// their own.
func parse(folder string) ([]*ast.File, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "metrics.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

func inFolder(folder string, reasons map[string]string) ([]Message, error) {
	files, err := parse(folder)
	if err != nil {
		return nil, err
	}
	c := &collector{reasons: maps.Clone(reasons), constants: map[string]string{}}
	for _, file := range files {
		c.textConstants(file)
		reasonConstants(file, "", c.reasons)
	}
	for _, file := range files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				c.function = functionName(fn)
			} else {
				c.function = ""
			}
			ast.Walk(&visitor{collector: c}, decl)
		}
	}
	return c.found, nil
}

// tidy sorts messages, and leaves out those that are the same.
func tidy(list []Message) []Message {
	order := func(a, b Message) int {
		return cmp.Or(
			cmp.Compare(a.Package, b.Package), cmp.Compare(a.Function, b.Function),
			slices.Compare(a.Reasons, b.Reasons), cmp.Compare(a.Format, b.Format),
		)
	}
	slices.SortStableFunc(list, order)
	return slices.CompactFunc(list, func(a, b Message) bool { return order(a, b) == 0 })
}
