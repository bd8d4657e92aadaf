// Package chart draws what a Prometheus answered as an SVG picture, for documentation: the panels of
// a dashboard where Grafana puts them, under the names of their rows. It knows nothing of queries, and
// it is no plotting library: lines, bars of states, figures, axes and a legend.
package chart

import (
	"bytes"
	"fmt"
	"html"
	"time"

	"github.com/sei-operator/sei-operator/test/monitoring/prometheus"
)

// Kind is how a panel shows its lines.
type Kind int

// The kinds of panels.
const (
	// Lines are drawn over time.
	Lines Kind = iota
	// Row is a heading over the panels that follow.
	Row
	// Figures are the last values.
	Figures
	// States are bars for as long as a value is not 0.
	States
)

// Panel is one chart, at a place in a grid that is 24 units wide.
type Panel struct {
	Kind       Kind
	Title      string
	Unit       string
	X, Y, W, H int
	Lines      []Line
}

// Line is a named series.
type Line struct {
	Name   string
	Points []prometheus.Point
}

const (
	// A unit of the grid, in pixels.
	unitW, unitH = 44, 27
	gridWidth    = 24
	heading      = 34
	// Around the plot of a panel.
	left, right, top = 52, 14, 30
	axisHeight       = 16
	legendLine       = 13
)

// span is the time that a picture is of.
type span struct{ from, to time.Time }

// gap is for how long a series may be silent before it counts as gone.
func (s span) gap() time.Duration { return s.to.Sub(s.from) / 20 }

// share is where in the span a time lies, from 0 to 1.
func (s span) share(at time.Time) float64 {
	return at.Sub(s.from).Seconds() / max(s.to.Sub(s.from).Seconds(), 1)
}

// SVG draws the panels over one span of time.
func SVG(title string, from, to time.Time, panels []Panel) []byte {
	height := 0
	for _, p := range panels {
		height = max(height, p.Y+p.H)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="10">`+"\n",
		gridWidth*unitW, heading+height*unitH+8)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/><text x="12" y="22" font-size="15" font-weight="bold">%s</text>`+
		`<text x="%d" y="22" text-anchor="end" fill="#666">%s to %s UTC</text>`+"\n",
		html.EscapeString(title), gridWidth*unitW-12, from.UTC().Format("2006-01-02 15:04:05"), to.UTC().Format("15:04:05"))
	for _, p := range panels {
		fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`, p.X*unitW, heading+p.Y*unitH)
		p.draw(&b, span{from, to})
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (p *Panel) width() int  { return p.W * unitW }
func (p *Panel) height() int { return p.H * unitH }

func (p *Panel) draw(b *bytes.Buffer, s span) {
	title := html.EscapeString(p.Title)
	if p.Kind == Row {
		fmt.Fprintf(b, `<text x="12" y="18" font-size="12" font-weight="bold" fill="#444">%s</text><line x1="8" x2="%d" y1="24" y2="24" stroke="#bbb"/>`,
			title, p.width()-8)
		return
	}
	fmt.Fprintf(b, `<rect x="4" y="4" width="%d" height="%d" rx="3" fill="none" stroke="#ddd"/><text x="12" y="19" font-weight="bold">%s</text>`,
		p.width()-8, p.height()-8, title)
	switch p.Kind {
	case Figures:
		p.figures(b, s)
	case States:
		p.states(b, s)
	default:
		p.plot(b, s)
	}
}

// figures writes the last value of each line that continues to the end, beside its name.
func (p *Panel) figures(b *bytes.Buffer, s span) {
	const line = 19
	shown, room, colours := 0, (p.height()-top-8)/line, coloursOf(p.Lines)
	for i, l := range p.Lines {
		if len(l.Points) == 0 || s.to.Sub(l.Points[len(l.Points)-1].At) > s.gap() || shown == room {
			continue
		}
		value, colour := l.Points[len(l.Points)-1].Value, colours[i]
		if value == 0 {
			colour = neutral
		}
		fmt.Fprintf(b, `<text x="14" y="%d"><tspan font-size="16" fill="%s">%s</tspan> %s</text>`, top+14+shown*line,
			colour, number(value, value, p.Unit), html.EscapeString(cut(l.Name, p.width()/7)))
		shown++
	}
}
