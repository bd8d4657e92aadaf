package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// sourcePackage is a package that one of the programs is made from.
type sourcePackage struct {
	ImportPath string
	Dir        string
	Standard   bool
	Module     *sourceModule
}

// sourceModule is a module as the Go tool lists it.
type sourceModule struct {
	Path, Version, Dir, Sum string
	Main                    bool
	Replace                 *sourceModule
}

// listPackages lists what the programs are made from, on any platform that they are built for. It compiles nothing.
func listPackages(ctx context.Context, source string) ([]sourcePackage, error) {
	found := map[string]sourcePackage{}
	for on, programs := range programsByPlatform() {
		args := append([]string{"list", "-mod=readonly", "-deps", "-json=ImportPath,Dir,Standard,Module"}, commands(programs)...)
		out, err := goTool(ctx, source, on, args...)
		if err != nil {
			return nil, fmt.Errorf("listing the packages of the programs for %s: %w", on, err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
			var p sourcePackage
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("reading the list of packages: %w", err)
			}
			found[p.ImportPath] = p
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b sourcePackage) int {
		return strings.Compare(a.ImportPath, b.ImportPath)
	}), nil
}

// programsByPlatform are the programs of the release, and what each is built for.
func programsByPlatform() map[platform][]string {
	found := map[platform][]string{}
	for _, arch := range architectures {
		found[platform{"linux", arch}] = slices.Concat(sidecar.programs, manager.programs)
	}
	for _, on := range pluginPlatforms {
		found[on] = append(found[on], plugin)
	}
	return found
}

func commands(programs []string) []string {
	paths := make([]string, 0, len(programs))
	for _, program := range programs {
		paths = append(paths, "./cmd/"+program)
	}
	return paths
}

// foreign reports whether a package is neither the project's own nor Go's.
func (p sourcePackage) foreign() bool { return p.Module != nil && !p.Module.Main }

// modules are those that packages of others belong to, each once.
func modules(packages []sourcePackage) []*sourceModule {
	found := map[string]*sourceModule{}
	for _, p := range packages {
		if p.foreign() {
			found[p.Module.Path] = p.Module
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *sourceModule) int { return strings.Compare(a.Path, b.Path) })
}
