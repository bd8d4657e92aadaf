package main

import (
	"bytes"
	"fmt"
	"math"
)

// panel is one of the plots over the number of nodes.
type panel struct {
	title, unit string
	of          func(*Growth) float64
	// limit is a line that should not be crossed; zero for none.
	limit float64
}

const (
	panelWidth, panelHeight = 380, 220
	marginLeft, marginTop   = 52, 34
	marginRight, marginLow  = 18, 36
)

// plotGrowth draws what grows with the number of nodes. Both axes are linear, so that what grows in
// proportion is a straight line.
func plotGrowth(all []*Growth) []byte {
	panels := []panel{
		{"memory at rest", "MiB", func(g *Growth) float64 { return g.Memory }, 0},
		{"CPU per minute at rest", "s", func(g *Growth) float64 { return g.RestCPU }, 0},
		{"cold start until all nodes are looked at", "s", func(g *Growth) float64 { return g.ColdStart }, 0},
		{"image change of one node, median", "s", func(g *Growth) float64 { return g.Change.Median }, growthAim},
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`, 2*panelWidth, 2*panelHeight)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>`)
	for i, p := range panels {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`, i%2*panelWidth, i/2*panelHeight)
		p.draw(&b, all)
		b.WriteString("</g>")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (p panel) draw(b *bytes.Buffer, all []*Growth) {
	most, high := float64(all[len(all)-1].Nodes), p.limit
	for _, g := range all {
		high = max(high, p.of(g))
	}
	step := roundStep(high / 4)
	high = math.Ceil(high/step) * step
	width, height := float64(panelWidth-marginLeft-marginRight), float64(panelHeight-marginTop-marginLow)
	x := func(nodes float64) float64 { return marginLeft + nodes/most*width }
	y := func(value float64) float64 { return marginTop + height - value/high*height }
	fmt.Fprintf(b, `<text x="%d" y="18" font-size="13">%s</text>`, marginLeft, p.title)
	for tick := 0.0; tick <= high*(1+1e-9); tick += step {
		fmt.Fprintf(b, `<line x1="%d" x2="%.0f" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%.4g %s</text>`,
			marginLeft, x(most), y(tick), y(tick), marginLeft-5, y(tick)+4, tick, p.unit)
	}
	for tick := 0.0; tick <= most; tick += roundStep(most / 5) {
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#999"/><text x="%.1f" y="%.1f" text-anchor="middle" fill="#555">%.0f</text>`,
			x(tick), x(tick), y(0), y(0)+4, x(tick), y(0)+16, tick)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="#555">settled nodes</text>`, x(most/2), y(0)+30)
	if p.limit > 0 {
		fmt.Fprintf(b, `<line x1="%d" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#c33" stroke-dasharray="5 3"/>`,
			marginLeft, x(most), y(p.limit), y(p.limit))
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="end" fill="#c33">aim</text>`, x(most), y(p.limit)-4)
	}
	command := "M"
	b.WriteString(`<path fill="none" stroke="#2b6cb0" stroke-width="1.6" d="`)
	for _, g := range all {
		fmt.Fprintf(b, "%s%.1f %.1f ", command, x(float64(g.Nodes)), y(p.of(g)))
		command = "L"
	}
	b.WriteString(`"/>`)
	for _, g := range all {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="2.6" fill="#2b6cb0"/>`, x(float64(g.Nodes)), y(p.of(g)))
	}
}

// roundStep is the smallest of 1, 2, 5, 10, 20 ... that is not below a size.
func roundStep(size float64) float64 {
	if size <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(size)))
	for _, factor := range []float64{1, 2, 5} {
		if step := factor * power; step >= size*(1-1e-9) {
			return step
		}
	}
	return 10 * power
}
