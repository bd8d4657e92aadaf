package chart

import "regexp"

// palette is for names that say nothing about good and bad.
var palette = []string{"#3274d9", "#8f3bb8", "#1f9e9e", "#e0b400", "#5794f2", "#a16a2c", "#6e6e6e", "#b877d9"}

// meanings give what is good, bad or neither the colour that people expect, whatever its place in a legend. The first
// that fits counts.
var meanings = []struct {
	words  *regexp.Regexp
	colour string
}{
	{regexp.MustCompile(`(?i)error|fail|unreachable|stalled|crash|missing|jailed|diverge|not.?ready|degraded`), "#c4162a"},
	{regexp.MustCompile(`(?i)noop|superseded|terminating`), "#9a9a9a"},
	{regexp.MustCompile(`(?i)conflict|retr|pending|initiali[sz]ing|waiting|updating|progressing|behind`), "#e08400"},
	{regexp.MustCompile(`(?i)\bin sync|running|\bready|success|complete|open|\bup\b`), "#37872d"},
}

// neutral is the colour of a figure that is 0.
const neutral = "#9a9a9a"

// coloursOf gives each line of a panel a colour: by its name, unless another line has that one already, or else by its
// place.
func coloursOf(lines []Line) []string {
	used, found := map[string]bool{}, make([]string, len(lines))
	for i, l := range lines {
		if colour := meaning(l.Name); !used[colour] {
			found[i], used[colour] = colour, colour != ""
		}
	}
	next := 0
	for i := range found {
		for found[i] == "" {
			colour := palette[next%len(palette)]
			if next++; !used[colour] || next > len(palette) {
				found[i], used[colour] = colour, true
			}
		}
	}
	return found
}

func meaning(name string) string {
	for _, m := range meanings {
		if m.words.MatchString(name) {
			return m.colour
		}
	}
	return ""
}
