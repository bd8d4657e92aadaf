// Package chart draws what a Prometheus answered as an SVG picture, for documentation:
// one small chart per panel of a dashboard. It knows nothing of queries, and it is no
// plotting library: lines, a scale and a legend.
package chart

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/test/monitoring/prometheus"
)

// Panel is one chart. A Stat shows its last values in place of lines.
type Panel struct {
	Title string
	Unit  string
	Stat  bool
	Lines []Line
}

// Line is a named series.
type Line struct {
	Name   string
	Points []prometheus.Point
}

const (
	columns       = 3
	width, height = 330, 170
	left, top     = 46, 26
	plotW, plotH  = width - left - 14, 92
	maxLegend     = 6
	legendLength  = 27
	// Figures stand closer together.
	figureColumns = 6
	figureWidth   = columns * width / figureColumns
	figureLine    = 17
	heading       = 30
)

var colours = []string{"#3274d9", "#e0b400", "#37872d", "#c4162a", "#8f3bb8", "#fa6400", "#1f9e9e", "#7a7a7a"}

// SVG draws the panels in rows, over one span of time: first those that are figures.
func SVG(title string, from, to time.Time, panels []Panel) []byte {
	var figures, plots []Panel
	lines := 0
	for _, p := range panels {
		if p.Stat {
			figures = append(figures, p)
			lines = max(lines, len(p.Lines))
		} else {
			plots = append(plots, p)
		}
	}
	figureHeight := 34 + lines*figureLine
	plotsFrom := heading + rows(len(figures), figureColumns)*figureHeight
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="9">`+"\n",
		columns*width, plotsFrom+rows(len(plots), columns)*height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/><text x="12" y="20" font-size="14" font-weight="bold">%s, %s to %s UTC</text>`+"\n",
		html.EscapeString(title), from.UTC().Format("15:04:05"), to.UTC().Format("15:04:05"))
	for i, p := range figures {
		frame(&b, p.Title, i%figureColumns*figureWidth, heading+i/figureColumns*figureHeight, figureWidth, figureHeight)
		figure(&b, p, from, to)
		b.WriteString("</g>\n")
	}
	for i, p := range plots {
		frame(&b, p.Title, i%columns*width, plotsFrom+i/columns*height, width, height)
		plot(&b, p, from, to)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func rows(panels, inARow int) int { return (panels + inARow - 1) / inARow }

// frame begins a panel; the caller ends it.
func frame(b *bytes.Buffer, title string, x, y, w, h int) {
	fmt.Fprintf(b, `<g transform="translate(%d,%d)"><rect x="4" y="4" width="%d" height="%d" fill="none" stroke="#ddd"/>`+
		`<text x="12" y="18" font-weight="bold">%s</text>`, x, y, w-8, h-8, html.EscapeString(title))
}

// figure writes the last value of each line that goes on to the end, beside its name.
func figure(b *bytes.Buffer, p Panel, from, to time.Time) {
	shown := 0
	for _, l := range p.Lines {
		if len(l.Points) == 0 || to.Sub(l.Points[len(l.Points)-1].At) > gap(from, to) {
			continue
		}
		fmt.Fprintf(b, `<text x="14" y="%d"><tspan font-size="14" fill="%s">%s</tspan> %s</text>`, 38+shown*figureLine,
			colours[shown%len(colours)], number(l.Points[len(l.Points)-1].Value, p.Unit), html.EscapeString(cut(l.Name, legendLength)))
		shown++
	}
}

// gap is for how long a series may be silent before it counts as gone.
func gap(from, to time.Time) time.Duration { return to.Sub(from) / 20 }

func plot(b *bytes.Buffer, p Panel, from, to time.Time) {
	highest := 0.0
	for _, l := range p.Lines {
		for _, pt := range l.Points {
			if !math.IsNaN(pt.Value) && !math.IsInf(pt.Value, 0) {
				highest = max(highest, pt.Value)
			}
		}
	}
	if highest == 0 {
		highest = 1
	}
	for _, share := range []float64{0, 0.5, 1} {
		y := top + plotH - share*plotH
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.0f" y2="%.0f" stroke="#eee"/><text x="%d" y="%.0f" text-anchor="end" fill="#666">%s</text>`,
			left, left+plotW, y, y, left-4, y+3, number(share*highest, p.Unit))
	}
	for i, l := range p.Lines {
		colour := colours[i%len(colours)]
		fmt.Fprintf(b, `<path fill="none" stroke="%s" d="%s"/>`, colour, path(l.Points, from, to, highest))
		if i < maxLegend {
			fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s</text>`, left+i%2*(plotW/2), top+plotH+14+i/2*11, colour, html.EscapeString(cut(l.Name, legendLength)))
		}
	}
}

// path is a line that is interrupted where there is no value. Points that lie on one
// level are left out, for the size of the file.
func path(points []prometheus.Point, from, to time.Time, highest float64) string {
	var b strings.Builder
	span := max(to.Sub(from).Seconds(), 1)
	step := 'M'
	for i, p := range points {
		if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
			step = 'M'
			continue
		}
		if i > 0 && p.At.Sub(points[i-1].At) > gap(from, to) {
			step = 'M'
		}
		level := i > 0 && i+1 < len(points) && points[i-1].Value == p.Value && points[i+1].Value == p.Value
		if step == 'L' && level && points[i+1].At.Sub(p.At) <= gap(from, to) {
			continue
		}
		fmt.Fprintf(&b, "%c%.1f %.1f", step, left+p.At.Sub(from).Seconds()/span*plotW, top+plotH-p.Value/highest*plotH)
		step = 'L'
	}
	return b.String()
}

func number(v float64, unit string) string {
	suffix := map[string]string{"s": " s", "percentunit": " %", "bytes": " MB", "ops": "/s", "wps": "/s", "reqps": "/s"}[unit]
	switch unit {
	case "percentunit":
		v *= 100
	case "bytes":
		v /= 1e6
	}
	return strings.TrimSuffix(fmt.Sprintf("%.3g", v), ".0") + suffix
}

func cut(s string, length int) string {
	if runes := []rune(s); len(runes) > length {
		return string(runes[:length-1]) + "…"
	}
	return s
}
