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

// area is where the lines of a panel are.
type area struct {
	span
	w, h float64
	axis scale
}

func (a area) x(at time.Time) float64  { return left + a.share(at)*a.w }
func (a area) y(value float64) float64 { return top + a.h - a.axis.share(value)*a.h }

// plot draws lines, both axes and the legend.
func (p *Panel) plot(b *bytes.Buffer, s span) {
	perRow := max(p.width()/150, 1)
	legend := min((len(p.Lines)+perRow-1)/perRow, 3)
	a := area{
		span: s, axis: scaleOf(p.Lines), w: float64(p.width() - left - right),
		h: float64(p.height() - top - axisHeight - 12 - legend*legendLine),
	}
	for _, tick := range a.axis.ticks() {
		fmt.Fprintf(b, `<line x1="%d" x2="%.0f" y1="%.1f" y2="%.1f" stroke="#eee"/><text x="%d" y="%.1f" text-anchor="end" fill="#666">%s</text>`,
			left, left+a.w, a.y(tick), a.y(tick), left-5, a.y(tick)+3, number(tick, a.axis.step, p.Unit))
	}
	a.timeAxis(b)
	colours := coloursOf(p.Lines)
	for i, l := range p.Lines {
		fmt.Fprintf(b, `<path fill="none" stroke="%s" stroke-width="1.4" d="%s"/>`, colours[i], a.path(l.Points))
	}
	below := p.height() - 10 - (legend-1)*legendLine
	for i, l := range p.Lines {
		x, y := left+i%perRow*int(a.w)/perRow, below+i/perRow*legendLine
		if i == legend*perRow-1 && len(p.Lines) > legend*perRow {
			fmt.Fprintf(b, `<text x="%d" y="%d" fill="#666">and %d more</text>`, x, y, len(p.Lines)-i)
			break
		}
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="9" height="3" fill="%s"/><text x="%d" y="%d">%s</text>`,
			x, y-5, colours[i], x+13, y, html.EscapeString(cut(l.Name, int(a.w)/perRow/6)))
	}
}

// timeAxis draws the axis of time.
func (a area) timeAxis(b *bytes.Buffer) {
	step, format := timeStep(a.to.Sub(a.from), a.w)
	for at := a.from.UTC().Truncate(step).Add(step); !at.After(a.to); at = at.Add(step) {
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#bbb"/><text x="%.1f" y="%.1f" text-anchor="middle" fill="#666">%s</text>`,
			a.x(at), a.x(at), top+a.h, top+a.h+3, a.x(at), top+a.h+13, at.Format(format))
	}
}

// path is a line that is interrupted where there is no value. Points that lie on one level are left out, for the size of
// the file.
func (a area) path(points []prometheus.Point) string {
	var b strings.Builder
	step := 'M'
	for i, p := range points {
		if !finite(p.Value) {
			step = 'M'
			continue
		}
		if i > 0 && p.At.Sub(points[i-1].At) > a.gap() {
			step = 'M'
		}
		level := i > 0 && i+1 < len(points) && points[i-1].Value == p.Value && points[i+1].Value == p.Value
		if step == 'L' && level && points[i+1].At.Sub(p.At) <= a.gap() {
			continue
		}
		fmt.Fprintf(&b, "%c%.1f %.1f", step, a.x(p.At), a.y(p.Value))
		step = 'L'
	}
	return b.String()
}

// states draws a bar for each line, where it is not 0.
func (p *Panel) states(b *bytes.Buffer, s span) {
	names := 0
	for _, l := range p.Lines {
		names = max(names, min(len(l.Name)*6, p.width()/3)-left+24)
	}
	a := area{span: s, w: float64(p.width() - left - right - names), h: float64(p.height() - top - axisHeight - 12)}
	bar, colours := min(a.h/float64(max(len(p.Lines), 1)), 22), coloursOf(p.Lines)
	for i, l := range p.Lines {
		y := top + float64(i)*bar
		if y+bar > top+a.h+1 {
			break
		}
		fmt.Fprintf(b, `<text x="12" y="%.1f">%s</text>`, y+bar/2+3, html.EscapeString(cut(l.Name, (left+names)/5)))
		for _, t := range s.times(l.Points) {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`,
				float64(names)+a.x(t.from), y+2, max(a.x(t.to)-a.x(t.from), 1), bar-4, colours[i])
		}
	}
	fmt.Fprintf(b, `<g transform="translate(%d,0)">`, names)
	a.timeAxis(b)
	b.WriteString("</g>")
}

// times are the spans in which a line is not 0. One that is not followed by another value soon ends where it is.
func (s span) times(points []prometheus.Point) []span {
	var found []span
	for i, p := range points {
		if p.Value == 0 || !finite(p.Value) {
			continue
		}
		end := s.to
		if i+1 < len(points) {
			end = points[i+1].At
		}
		if end.Sub(p.At) > s.gap() {
			end = p.At
		}
		if last := len(found) - 1; last >= 0 && !found[last].to.Before(p.At) {
			found[last].to = end
			continue
		}
		found = append(found, span{p.At, end})
	}
	return found
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func cut(s string, length int) string {
	if runes := []rune(s); len(runes) > length {
		return string(runes[:max(length-1, 0)]) + "…"
	}
	return s
}
