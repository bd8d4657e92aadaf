package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/test/monitoring/chart"
	"github.com/sei-operator/sei-operator/test/monitoring/prometheus"
)

var from = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func points(values ...float64) []prometheus.Point {
	all := make([]prometheus.Point, 0, len(values))
	for i, v := range values {
		all = append(all, prometheus.Point{At: from.Add(time.Duration(i) * time.Second), Value: v})
	}
	return all
}

func TestSVG_IsWellFormedAndShowsEveryPanel(t *testing.T) {
	last := []prometheus.Point{{At: from.Add(time.Minute), Value: 3}}
	many := make([]chart.Line, 30)
	for i := range many {
		many[i] = chart.Line{Name: "line", Points: points(1)}
	}
	picture := string(chart.SVG("Sei <fleets>", from, from.Add(time.Minute), []chart.Panel{
		{Kind: chart.Row, Title: "The chain", W: 24, H: 1},
		{Title: "Lines", Unit: "s", Y: 1, W: 12, H: 7, Lines: []chart.Line{{Name: "a & b", Points: points(1, math.NaN(), 3)}, {Name: "flat"}}},
		{Kind: chart.Figures, Title: "Figures", X: 12, Y: 1, W: 6, H: 4, Lines: []chart.Line{{Name: "gone", Points: points(1)}, {Name: "nodes", Points: last}}},
		{Kind: chart.States, Title: "States", Y: 8, W: 24, H: 7, Lines: []chart.Line{{Name: "Running", Points: points(0, 1)}}},
		{Title: "Many", Y: 15, W: 8, H: 7, Lines: many},
	}))
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
	}
	for _, want := range []string{
		"Sei &lt;fleets&gt;", "2026-01-02 03:04:05 to 03:05:05 UTC", "The chain", "a &amp; b", "flat", ">3</tspan> nodes",
		">0 s</text>", ">3 s</text>", ">03:04:30</text>", "Running", "and 25 more",
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("%q is missing in\n%s", want, picture)
		}
	}
	if strings.Contains(picture, "gone") {
		t.Error("a figure is shown of what is no longer there")
	}
	if strings.Count(picture, "M52.0") < 2 || !strings.Contains(picture, `d="M52.0 `) {
		t.Errorf("a line does not begin at the axis:\n%s", picture)
	}
}

// What is good, bad or neither has the colour that people expect, no two lines of a panel have the same, and a figure
// that is 0 alarms nobody.
func TestSVG_ColoursAreByMeaningAndDiffer(t *testing.T) {
	line := func(name string) chart.Line { return chart.Line{Name: name, Points: points(1)} }
	picture := string(chart.SVG("", from, from.Add(time.Minute), []chart.Panel{{W: 24, H: 7, Lines: []chart.Line{
		line("not_ready"), line("ready"), line("unreachable"), line("noop"), line("rpc-0"), line("rpc-1"),
	}}}))
	found := regexp.MustCompile(`stroke="(#[0-9a-f]+)" stroke-width`).FindAllStringSubmatch(picture, -1)
	used := make([]string, 0, len(found))
	for _, m := range found {
		used = append(used, m[1])
	}
	if want := []string{"#c4162a", "#37872d"}; len(used) != 6 || !slices.Equal(used[:2], want) {
		t.Errorf("colours %v, want first %v", used, want)
	}
	if different := slices.Compact(slices.Sorted(slices.Values(used))); len(different) != 6 {
		t.Errorf("six lines have %d colours: %v", len(different), used)
	}
	zero := []prometheus.Point{{At: from.Add(time.Minute)}}
	if figure := string(chart.SVG("", from, from.Add(time.Minute), []chart.Panel{
		{Kind: chart.Figures, W: 6, H: 4, Lines: []chart.Line{{Name: "failed", Points: zero}}},
	})); strings.Contains(figure, "#c4162a") || !strings.Contains(figure, ">0</tspan> failed") {
		t.Errorf("no failure:\n%s", figure)
	}
}

// Axes have round numbers, and begin at 0 unless all values are far from it.
func TestSVG_AxesAreRound(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   []string
		not    string
	}{
		"from 0":         {[]float64{0.1, 0.441}, []string{">0</text>", ">0.2</text>", ">0.6</text>"}, ">0.441</text>"},
		"a height":       {[]float64{1203, 1211}, []string{">1200</text>", ">1215</text>"}, ">0</text>"},
		"a narrow range": {[]float64{80.43, 80.57}, []string{">80.4</text>", ">80.45</text>", ">80.6</text>"}, ""},
		"one value":      {[]float64{7}, []string{">0</text>", ">10</text>"}, ""},
		"nothing":        {nil, []string{">0</text>", ">1</text>"}, ""},
		"always 0":       {[]float64{0, 0}, []string{">0</text>", ">1</text>"}, ""},
		"below 0":        {[]float64{-4, 4}, []string{">-5</text>", ">5</text>"}, ""},
		"a small value":  {[]float64{0.0004}, []string{">0.0004</text>"}, ""},
	} {
		picture := string(chart.SVG("", from, from.Add(time.Minute), []chart.Panel{{W: 12, H: 7, Lines: []chart.Line{{Name: "x", Points: points(c.values...)}}}}))
		for _, want := range c.want {
			if !strings.Contains(picture, want) {
				t.Errorf("%s: %s is missing in\n%s", name, want, picture)
			}
		}
		if c.not != "" && strings.Contains(picture, c.not) {
			t.Errorf("%s: %s is in\n%s", name, c.not, picture)
		}
	}
}
