package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([-._].*)?$`)

// covered is how much of a licence file has to be text of licences that are known, in percent. The rest is names,
// years and headings.
const covered = 75

// licencesOf are the SPDX identifiers of what holds for each module: for the packages that are used, all licence files
// from their own folder up to the module's.
func licencesOf(packages []sourcePackage) (map[string][]string, error) {
	found := map[string][]string{}
	read := map[string][]string{}
	for _, p := range packages {
		if !p.foreign() {
			continue
		}
		for dir := p.Dir; strings.HasPrefix(dir, p.Module.Dir); dir = filepath.Dir(dir) {
			if _, done := read[dir]; !done {
				ids, err := licencesIn(dir)
				if err != nil {
					return nil, fmt.Errorf("module %s: %w", p.Module.Path, err)
				}
				read[dir] = ids
			}
			found[p.Module.Path] = append(found[p.Module.Path], read[dir]...)
		}
	}
	for path, ids := range found {
		slices.Sort(ids)
		found[path] = slices.Compact(ids)
	}
	return found, nil
}

func licencesIn(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for licences: %w", err)
	}
	var found []string
	for _, file := range files {
		if file.IsDir() || !licenceFile.MatchString(file.Name()) || strings.HasSuffix(file.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file.Name())) //nolint:gosec // a file of a module
		if err != nil {
			return nil, fmt.Errorf("reading a licence: %w", err)
		}
		scan := licensecheck.Scan(text)
		if scan.Percent < covered {
			return nil, fmt.Errorf("%s is no licence that is known by its text (%.0f %% of it are)", filepath.Join(dir, file.Name()), scan.Percent)
		}
		for _, match := range scan.Match {
			found = append(found, match.ID)
		}
	}
	return found, nil
}
