package chaos

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"time"
)

// Measures of the picture, in pixels.
const (
	pictureWidth = 1180
	marginLeft   = 175
	marginRight  = 20
	headHeight   = 58
	rowHeight    = 19
	gapsHeight   = 150
	footHeight   = 44
	betweenParts = 26
)

var colourOf = map[Kind]string{Kill: "#c4162a", Freeze: "#8f3bb8", Loss: "#fa6400", Edit: "#3274d9"}

const (
	colourRuns  = "#7fbf7f"
	colourGap   = "#bbb"
	colourAble  = "#444"
	colourBound = "#c4162a"
)

// canvas is the picture while it is drawn.
type canvas struct {
	bytes.Buffer
	from, to time.Time
}

// x is where a time is.
func (c *canvas) x(at time.Time) float64 {
	if at.Before(c.from) {
		at = c.from
	}
	if at.After(c.to) {
		at = c.to
	}
	return marginLeft + at.Sub(c.from).Seconds()/max(c.to.Sub(c.from).Seconds(), 1)*(pictureWidth-marginLeft-marginRight)
}

func (c *canvas) text(x, y float64, anchor, text string) {
	fmt.Fprintf(&c.Buffer, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(text))
}

func (c *canvas) line(x1, y1, x2, y2 float64, style string) {
	fmt.Fprintf(&c.Buffer, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" %s/>`+"\n", x1, y1, x2, y2, style)
}

// Picture draws events per component, the processes of seid, and the gaps between blocks over one axis of time.
func (r *Report) Picture() []byte {
	rows := eventRows(r.Events)
	processes := headHeight + float64(len(rows))*rowHeight + betweenParts
	gaps := processes + float64(len(r.Nodes))*rowHeight + betweenParts
	height := gaps + gapsHeight + footHeight
	c := &canvas{from: r.Began, to: r.Calm}
	if r.Settled.After(c.to) {
		c.to = r.Settled
	}
	fmt.Fprintf(&c.Buffer, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" font-family="sans-serif" font-size="11">`+"\n", pictureWidth, height)
	fmt.Fprintf(&c.Buffer, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n"+
		`<text x="12" y="20" font-size="15" font-weight="bold">make chaos, seed %d, %s, %s UTC</text>`+"\n",
		r.Seed, r.Length, r.Began.UTC().Format(time.DateTime))
	c.legend()
	c.grid(gaps + gapsHeight)
	for i, row := range rows {
		y := headHeight + float64(i)*rowHeight
		c.rowLine(row, y)
		for _, e := range r.Events {
			if e.Row == row {
				c.mark(e, y+rowHeight/2)
			}
		}
	}
	for i, node := range r.Nodes {
		y := processes + float64(i)*rowHeight
		c.rowLine("seid of "+node, y)
		for _, run := range runsOf(r.Runs, node) {
			if run.To.After(c.from) {
				fmt.Fprintf(&c.Buffer, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n",
					c.x(run.From), y+4, c.x(run.To)-c.x(run.From), rowHeight-8, colourRuns)
			}
		}
	}
	c.gaps(r, gaps)
	c.line(c.x(r.Calm), headHeight, c.x(r.Calm), gaps+gapsHeight, `stroke="#444" stroke-dasharray="2 3"`)
	c.text(c.x(r.Calm)-4, gaps-8, "end", "the last disturbance is undone")
	c.WriteString("</svg>\n")
	return c.Bytes()
}

// eventRows are the things that were hit, in the order of RowOrder.
func eventRows(events []Event) []string {
	var rows []string
	for _, e := range events {
		if !slices.Contains(rows, e.Row) {
			rows = append(rows, e.Row)
		}
	}
	slices.SortStableFunc(rows, func(a, b string) int { return slices.Index(RowOrder, a) - slices.Index(RowOrder, b) })
	return rows
}

// RowOrder is the order of rows in the picture.
var RowOrder = []string{
	"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "containerd",
	"operator", "sidecar", RowSeid, "pod", "StatefulSet", "SeiNode", "validators' spec", "full nodes' spec",
}

func (c *canvas) legend() {
	x := float64(marginLeft)
	for _, l := range []struct {
		kind Kind
		text string
	}{{Kill, "process killed"}, {Freeze, "process stopped for a while"}, {Loss, "pod or object removed"}, {Edit, "edit; the bar ends when it is undone"}} {
		fmt.Fprintf(&c.Buffer, `<circle cx="%.1f" cy="38" r="4.5" fill="%s"/>`+"\n", x+5, colourOf[l.kind])
		c.text(x+14, 42, "start", l.text)
		x += 30 + 6.2*float64(len(l.text))
	}
	fmt.Fprintf(&c.Buffer, `<rect x="%.1f" y="33" width="16" height="10" fill="%s"/>`+"\n", x, colourRuns)
	c.text(x+21, 42, "start", "process runs")
	x += 108
	c.line(x, 38, x+16, 38, `stroke="`+colourBound+`" stroke-dasharray="4 3"`)
	c.text(x+21, 42, "start", "bound")
	x += 70
	fmt.Fprintf(&c.Buffer, `<circle cx="%.1f" cy="38" r="4" fill="#fff" stroke="#444"/>`+"\n", x+5)
	c.text(x+14, 42, "start", "not done")
}

// grid has a line for every minute, or half a minute in short runs.
func (c *canvas) grid(bottom float64) {
	step := time.Minute
	if c.to.Sub(c.from) < 5*time.Minute {
		step = 30 * time.Second
	}
	for at := time.Duration(0); at <= c.to.Sub(c.from); at += step {
		x := c.x(c.from.Add(at))
		c.line(x, headHeight, x, bottom, `stroke="#e4e4e4"`)
		c.text(x, bottom+15, "middle", fmt.Sprintf("%d:%02d", int(at.Minutes()), int(at.Seconds())%60))
	}
	c.text((marginLeft+pictureWidth-marginRight)/2, bottom+33, "middle", "minutes since the beginning")
}

func (c *canvas) rowLine(name string, y float64) {
	c.line(marginLeft, y+rowHeight/2, pictureWidth-marginRight, y+rowHeight/2, `stroke="#f0f0f0"`)
	c.text(marginLeft-8, y+rowHeight/2+4, "end", name)
}

// mark is an event: a dot, with a bar as long as it lasted. One that was not done is hollow.
func (c *canvas) mark(e Event, y float64) {
	x, fill := c.x(e.At), colourOf[e.Kind]
	if !e.Until.IsZero() {
		fmt.Fprintf(&c.Buffer, `<rect x="%.1f" y="%.1f" width="%.1f" height="4" fill="%s" opacity="0.5"/>`+"\n", x, y-2, c.x(e.Until)-x, fill)
	}
	if e.Missed != "" {
		fmt.Fprintf(&c.Buffer, `<circle cx="%.1f" cy="%.1f" r="4" fill="#fff" stroke="%s"/>`+"\n", x, y, fill)
		return
	}
	fmt.Fprintf(&c.Buffer, `<circle cx="%.1f" cy="%.1f" r="4.5" fill="%s"><title>%s</title></circle>`+"\n", x, y, fill, html.EscapeString(e.What))
}

// gaps draws each gap as a box as wide and as high as it lasted, in it the part that the bound is for, and the bound.
func (c *canvas) gaps(r *Report, top float64) {
	highest := r.Bound.Seconds()
	for _, g := range r.Gaps {
		highest = max(highest, g.Took().Seconds())
	}
	highest = 20 * math.Ceil(highest*1.05/20)
	y := func(seconds float64) float64 { return top + gapsHeight - seconds/highest*gapsHeight }
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.line(marginLeft, y(share*highest), pictureWidth-marginRight, y(share*highest), `stroke="#e4e4e4"`)
		c.text(marginLeft-8, y(share*highest)+4, "end", fmt.Sprintf("%.0f s", share*highest))
	}
	for i, l := range []struct{ colour, text string }{{colourGap, "gap between blocks"}, {colourAble, "with enough validators"}} {
		below := top + gapsHeight/2 + float64(i)*16
		fmt.Fprintf(&c.Buffer, `<rect x="8" y="%.1f" width="9" height="9" fill="%s"/>`+"\n", below-8, l.colour)
		c.text(20, below, "start", l.text)
	}
	for _, g := range r.Gaps {
		if !g.To.After(c.from) || !g.From.Before(c.to) {
			continue
		}
		for _, part := range []struct {
			took   time.Duration
			colour string
		}{{g.Took(), colourGap}, {g.Able, colourAble}} {
			fmt.Fprintf(&c.Buffer, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", c.x(g.From), y(part.took.Seconds()),
				max(c.x(g.To)-c.x(g.From)-0.3, 0.5), top+gapsHeight-y(part.took.Seconds()), part.colour)
		}
	}
	c.line(marginLeft, y(r.Bound.Seconds()), pictureWidth-marginRight, y(r.Bound.Seconds()), `stroke="`+colourBound+`" stroke-dasharray="4 3"`)
}
