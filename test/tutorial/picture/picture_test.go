package picture_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/test/tutorial/picture"
)

func TestFrames_BeginWhereTheScreenIsCleared(t *testing.T) {
	const cleared = "\x1b[H\x1b[2J"
	if got := picture.Frames("left over" + cleared + "one\r\n" + cleared + "two\r\n"); !cmp.Equal(got, []string{"one\r\n", "two\r\n"}) {
		t.Errorf("got %q", got)
	}
	if got := picture.Frames("nothing was drawn"); got != nil {
		t.Errorf("got %q, want nil", got)
	}
}

// drawn is a text of a picture.
type drawn struct{ X, Y, Class, Text string }

// texts reads a picture as browsers do, and fails on XML that is not well-formed.
func texts(t *testing.T, svg []byte) (found []drawn) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "text" {
			continue
		}
		var element struct {
			X     string `xml:"x,attr"`
			Y     string `xml:"y,attr"`
			Class string `xml:"class,attr"`
			Text  string `xml:",chardata"`
		}
		if err := decoder.DecodeElement(&element, &start); err != nil {
			t.Fatal(err)
		}
		found = append(found, drawn(element))
	}
}

func TestSVG_PutsEachCellAtItsColumn_InItsColour(t *testing.T) {
	svg, err := picture.SVG("a fleet", picture.Screen{
		Command: "kubectl sei status",
		Printed: "NAME       READY   DETAIL\r\n└─ rpc-0   \x1b[33mFalse\x1b[0m   a < b & c\r\n",
	}, picture.Screen{Printed: "ready"})
	if err != nil {
		t.Fatal(err)
	}
	want := []drawn{
		{"16.0", "29", "prompt", "$ kubectl sei status"},
		{"16.0", "47", "", "NAME"}, {"101.8", "47", "", "READY"}, {"164.2", "47", "", "DETAIL"},
		{"16.0", "65", "", "└─ rpc-0"}, {"101.8", "65", "yellow", "False"}, {"164.2", "65", "", "a < b & c"},
		{"16.0", "101", "", "ready"},
	}
	if diff := cmp.Diff(want, texts(t, svg)); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
	// 28 columns, and 5 rows with the empty one between the screens.
	if !strings.Contains(string(svg), `width="250" height="122"`) {
		t.Errorf("the picture is not as large as its text:\n%s", svg)
	}
	if !strings.Contains(string(svg), "<title>a fleet</title>") {
		t.Error("the picture has no title")
	}
}

func TestSVG_ControlSequenceThatIsNotKnown_IsAnError(t *testing.T) {
	if _, err := picture.SVG("", picture.Screen{Printed: "\x1b[35mpink"}); err == nil || !strings.Contains(err.Error(), `"\x1b[35m"`) {
		t.Errorf("got %v, want an error with %q", err, `"\x1b[35m"`)
	}
}
