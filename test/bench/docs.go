package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var (
	docsPage   = filepath.Join("docs", "contributing", "benchmarks.md")
	growthPlot = filepath.Join("docs", "images", "bench-growth.svg")
)

// What is between these lines of the page is written by the bench.
const (
	figuresBegin = "<!-- figures: written by go run ./test/bench --docs -->"
	figuresEnd   = "<!-- end of figures -->"
)

// writeDocs writes tables and plots into the documentation.
func (r *Report) writeDocs(root string) error {
	page := rooted(root, docsPage)
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("writing the figures down: %w", err)
	}
	updated, err := replaceFigures(string(text), r.markdown())
	if err != nil {
		return fmt.Errorf("writing the figures down in %s: %w", docsPage, err)
	}
	if err := os.WriteFile(page, []byte(updated), 0o644); err != nil {
		return fmt.Errorf("writing the figures down: %w", err)
	}
	if len(r.Growth) == 0 {
		return nil
	}
	if err := os.WriteFile(rooted(root, growthPlot), plotGrowth(r.Growth), 0o644); err != nil {
		return fmt.Errorf("drawing the growth: %w", err)
	}
	return nil
}

// replaceFigures puts figures in the place of those on a page.
func replaceFigures(page, figures string) (string, error) {
	before, rest, begins := strings.Cut(page, figuresBegin)
	_, after, ends := strings.Cut(rest, figuresEnd)
	if !begins || !ends {
		return "", errors.New("the lines that say where the figures go are missing")
	}
	return before + figuresBegin + "\n\n" + figures + "\n" + figuresEnd + after, nil
}
