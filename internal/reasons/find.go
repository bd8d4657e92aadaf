package reasons

import (
	"regexp"
	"slices"
	"strings"
)

// Use is one place where a reason is used.
type Use struct {
	// Of is the kind and the types of the condition, or "event".
	Of string `json:"of"`
	// Status is that of the condition, or the type of the event.
	Status string `json:"status"`
	Words
}

// Explanation is all there is to say about one reason, or about a type of condition.
type Explanation struct {
	Name string `json:"name"`
	// About says what a type of condition is for; empty for a reason.
	About []string `json:"about,omitempty"`
	// Reasons are those of a type of condition.
	Reasons []string `json:"reasons,omitempty"`
	Uses    []Use    `json:"uses,omitempty"`
}

// Explain explains a reason or a type of condition. Upper and lower case do not matter. Links are
// removed from the text.
func Explain(name string) (Explanation, bool, error) {
	conditions, err := Conditions()
	if err != nil {
		return Explanation{}, false, err
	}
	happened, err := Events()
	if err != nil {
		return Explanation{}, false, err
	}
	e := Explanation{Name: name}
	for _, c := range conditions {
		e.addType(c)
		e.addStates(c)
	}
	for _, event := range happened {
		if strings.EqualFold(event.Reason, name) {
			e.Name = event.Reason
			e.Uses = append(e.Uses, Use{Of: "event", Status: event.Type, Words: event.Plain()})
		}
	}
	return e, len(e.Uses)+len(e.About) > 0, nil
}

func (e *Explanation) addType(c Condition) {
	for _, typ := range c.Types {
		if !strings.EqualFold(typ, e.Name) {
			continue
		}
		e.Name = typ
		if about := c.Kind + ": " + plain(c.About); typ == c.Types[0] {
			e.About = append(e.About, about)
		}
		for _, state := range c.States {
			for _, reason := range state.Reasons {
				if !slices.Contains(e.Reasons, reason) {
					e.Reasons = append(e.Reasons, reason)
				}
			}
		}
	}
}

func (e *Explanation) addStates(c Condition) {
	for _, state := range c.States {
		for _, reason := range state.Reasons {
			if strings.EqualFold(reason, e.Name) {
				e.Name = reason
				e.Uses = append(e.Uses, Use{Of: c.Kind + " " + strings.Join(c.Types, ", "), Status: state.Status, Words: state.Plain()})
			}
		}
	}
}

// Names lists every reason and every type of condition, sorted.
func Names() ([]string, error) {
	conditions, err := Conditions()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range conditions {
		names = append(names, c.Types...)
		for _, state := range c.States {
			names = append(names, state.Reasons...)
		}
	}
	happened, err := Events()
	if err != nil {
		return nil, err
	}
	for _, event := range happened {
		names = append(names, event.Reason)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Plain is the text without links, for a terminal.
func (w Words) Plain() Words {
	return Words{Meaning: plain(w.Meaning), Cause: plain(w.Cause), Action: plain(w.Action)}
}

var link = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)

// plain makes `[text](how-to/page.md#part)` "text (docs/how-to/page.md#part)".
func plain(text string) string {
	return link.ReplaceAllString(text, "$1 (docs/$2)")
}
