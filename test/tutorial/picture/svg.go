package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// Sizes in pixels. A character of the usual monospaced fonts is 0.6 of the font's size wide.
const (
	fontSize   = 13
	charWidth  = 7.8
	lineHeight = 18
	margin     = 16
)

const style = `text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d1d7e0;white-space:pre}` +
	`.ground{fill:#151b23;stroke:#3d444d}.prompt{fill:#8b949e}.red{fill:#ff7b72}.yellow{fill:#e3b341}`

// Screen is a command and what it printed.
type Screen struct {
	// Command is shown after a prompt; nothing is shown when it is empty.
	Command string
	Printed string
}

// SVG draws screens below each other. The title is what a screen reader says.
func SVG(title string, screens ...Screen) ([]byte, error) {
	var body bytes.Buffer
	row, widest := 0, 0
	for i, screen := range screens {
		if i > 0 {
			row++
		}
		if screen.Command != "" {
			text(&body, row, span{class: "prompt", text: "$ " + screen.Command})
			widest = max(widest, len("$ "+screen.Command))
			row++
		}
		for line := range strings.Lines(strings.TrimSpace(screen.Printed)) {
			pieces, err := spans(strings.TrimRight(line, "\r\n"))
			if err != nil {
				return nil, fmt.Errorf("drawing line %d: %w", row+1, err)
			}
			for _, piece := range pieces {
				text(&body, row, piece)
				widest = max(widest, piece.column+len([]rune(piece.text)))
			}
			row++
		}
	}
	width, height := int(float64(widest)*charWidth)+2*margin, row*lineHeight+2*margin
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&out, "<title>%s</title>\n<style>%s</style>\n", escaped(title), style)
	fmt.Fprintf(&out, `<rect class="ground" x="0.5" y="0.5" width="%d" height="%d" rx="6"/>`+"\n", width-1, height-1)
	out.Write(body.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes(), nil
}

func text(w *bytes.Buffer, row int, s span) {
	class := ""
	if s.class != "" {
		class = fmt.Sprintf(" class=%q", s.class)
	}
	x, y := margin+float64(s.column)*charWidth, margin+row*lineHeight+fontSize
	fmt.Fprintf(w, "<text x=\"%.1f\" y=\"%d\"%s>%s</text>\n", x, y, class, escaped(s.text))
}

func escaped(s string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(s)) // a strings.Builder takes everything
	return out.String()
}
