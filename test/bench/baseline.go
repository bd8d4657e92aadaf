package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// baselineFile holds the figures that later runs are compared with.
var baselineFile = filepath.Join("test", "bench", "baseline.json")

// worseBy is by which factor a figure may be worse than the one kept.
const worseBy = 1.2

// Baseline are the medians of an earlier run, and how fast its machine was.
type Baseline struct {
	Speed float64 `json:"speed"`
	// Figures are by number of nodes and name.
	Figures map[string]float64 `json:"figures"`
}

// baseline is what a report says, for later runs.
func (r *Report) baseline() *Baseline {
	b := &Baseline{Speed: r.Speed, Figures: map[string]float64{}}
	for _, runs := range r.bySize() {
		for _, row := range rowsOf(runs[0].Nodes) {
			b.Figures[figureName(runs[0].Nodes, row)] = row.spreadOf(runs).Median
		}
	}
	return b
}

func figureName(nodes int, r row) string { return fmt.Sprintf("%d nodes: %s", nodes, r.name) }

func (r *Report) record(root string) error {
	content, err := json.MarshalIndent(r.baseline(), "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the figures: %w", err)
	}
	if err := os.WriteFile(rooted(root, baselineFile), append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("keeping the figures: %w", err)
	}
	return nil
}

// regressions names the figures with an aim that are a fifth worse than those kept. Times and CPU times
// are compared as if the machine were as fast as the one before.
func (r *Report) regressions(root string) ([]string, error) {
	content, err := os.ReadFile(rooted(root, baselineFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the figures of an earlier run: %w", err)
	}
	before := &Baseline{}
	if err := json.Unmarshal(content, before); err != nil {
		return nil, fmt.Errorf("reading the figures of an earlier run: %w", err)
	}
	return r.worseThan(before), nil
}

func (r *Report) worseThan(before *Baseline) []string {
	var worse []string
	for _, runs := range r.bySize() {
		for _, row := range rowsOf(runs[0].Nodes) {
			kept, known := before.Figures[figureName(runs[0].Nodes, row)]
			if !known || row.aim == nil {
				continue
			}
			if isTime := strings.HasSuffix(row.format, "s"); isTime && !row.steady && r.Speed > 0 {
				kept *= before.Speed / r.Speed
			}
			// What is all but nothing may double.
			if now := row.spreadOf(runs).Median; now > kept*worseBy+slack(row) {
				worse = append(worse, fmt.Sprintf("%s: %s, a fifth worse than %s", figureName(runs[0].Nodes, row), row.show(now), row.show(kept)))
			}
		}
	}
	return worse
}

// slack is a difference that says nothing.
func slack(r row) float64 {
	switch r.format {
	case inSeconds:
		return 0.05
	case inMiB:
		return 2
	default:
		return 0.5
	}
}

// speed is how many rounds of a fixed piece of work all cores together can do in a second.
func speed() float64 {
	const lasts = time.Second
	var rounds atomic.Int64
	var workers sync.WaitGroup
	began := time.Now()
	for range runtime.NumCPU() {
		workers.Go(func() {
			value := map[string]any{}
			for i := range 50 {
				value[fmt.Sprintf("key-%d", i)] = strings.Repeat("x", i)
			}
			for time.Since(began) < lasts {
				text, err := json.Marshal(value)
				if err != nil || json.Unmarshal(text, &value) != nil {
					return
				}
				sha256.Sum256(text)
				rounds.Add(1)
			}
		})
	}
	workers.Wait()
	return float64(rounds.Load()) / time.Since(began).Seconds()
}
