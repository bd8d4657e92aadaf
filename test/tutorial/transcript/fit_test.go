package transcript_test

import (
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/test/tutorial/transcript"
)

func TestFits(t *testing.T) {
	for name, c := range map[string]struct {
		page, output string
		want         string // what the error says; empty when it fits
	}{
		"the same":                      {"NAME\nrpc", "NAME\nrpc", ""},
		"empty lines at the end":        {"NAME\n\n", "NAME", ""},
		"empty lines between":           {"a\n\nb", "a\nb", `the page has ""`},
		"another word":                  {"rpc   True", "rpc   False", `the page has "rpc  True"`},
		"another age":                   {"up 4m", "up 3m59s", ""},
		"an age that is none":           {"up 4m", "up forever", "the page has"},
		"another time":                  {"2026-11-15T12:00:00Z", "2027-01-02T03:04:05Z", ""},
		"another time of Helm":          {"LAST DEPLOYED: Mon Nov 16 18:27:09 2026", "LAST DEPLOYED: Tue Dec  1 08:00:00 2026", ""},
		"another address":               {"on 198.18.0.7", "on 198.19.1.12", ""},
		"another version":               {"Kubernetes v1.37.1", "Kubernetes v1.36.3", ""},
		"another hash":                  {"hash 0a1b2c3d4e5f", "hash 99ff99ff00aa11", ""},
		"a long word of letters":        {"hash 0a1b2c3d4e5f", "hash deadbeef", "the page has"},
		"another height":                {"at height 12", "at height 1300", ""},
		"another number of rights":      {"has all 92 rights", "has all 101 rights", ""},
		"another number of files":       {"report.tar.gz: 250 files", "report.tar.gz: 249 files", ""},
		"another count in a table":      {"rpc-0   12   5", "rpc-0   8   11", ""},
		"another share in a table":      {"rpc-0   1%   5", "rpc-0   12%   5", ""},
		"a fact that is not known":      {"rpc-0   12   5", "rpc-0   -   5", "the page has"},
		"another count in a sentence":   {"1 of 2 nodes", "2 of 2 nodes", "the page has"},
		"another share of nodes":        {"rpc   1/2   Upgrading", "rpc   2/2   Upgrading", "the page has"},
		"other widths":                  {"NAME   READY\nrpc    True  ", "NAME          READY\nrpc           True", ""},
		"a line that is missing":        {"a\nb\nc", "a\nc", `the page has "b"`},
		"a line too many":               {"a\nb", "a\nb\nc", "more lines than the page"},
		"no output at all":              {"a", "", `the page has "a"`},
		"any lines":                     {"a\n...\nz", "a\nb\nc\nz", ""},
		"any lines, and there are none": {"a\n...\nz", "a\nz", ""},
		"any lines, and then another":   {"a\n...\nz", "a\nb\nc", `the page has "z"`},
		"any text within a line":        {"waits for ...: rpc-0", "waits for ImageChanged: rpc-0", ""},
		"any text, and then another":    {"waits for ...: rpc-0", "waits for ImageChanged: rpc-1", "the page has"},
		"signs that mean something":     {"[##..] a+b (c)", "[##..] a+b (c)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := transcript.Fits(strings.Split(c.page, "\n"), strings.Split(c.output, "\n"))
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
