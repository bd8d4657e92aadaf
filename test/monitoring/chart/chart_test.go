package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/test/monitoring/chart"
	"github.com/sei-operator/sei-operator/test/monitoring/prometheus"
)

func TestSVG_IsWellFormedAndShowsEveryLine(t *testing.T) {
	from := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	points := []prometheus.Point{{At: from, Value: 1}, {At: from.Add(time.Second), Value: math.NaN()}, {At: from.Add(2 * time.Second), Value: 3}}
	last := []prometheus.Point{{At: from.Add(time.Minute), Value: 3}}
	picture := string(chart.SVG("Sei <fleets>", from, from.Add(time.Minute), []chart.Panel{
		{Title: "Lines", Unit: "s", Lines: []chart.Line{{Name: "a & b", Points: points}, {Name: "flat"}}},
		{Title: "Figures", Stat: true, Lines: []chart.Line{{Name: "gone", Points: points}, {Name: "nodes", Points: last}}},
	}))
	if strings.Contains(picture, "gone") {
		t.Error("a figure is shown of what is no longer there")
	}
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
	}
	for _, want := range []string{"Sei &lt;fleets&gt;, 03:04:05 to 03:05:05 UTC", "a &amp; b", "flat", ">3</tspan> nodes", "M46.0 87.3M55.0 26.0"} {
		if !strings.Contains(picture, want) {
			t.Errorf("%q is missing in\n%s", want, picture)
		}
	}
}
