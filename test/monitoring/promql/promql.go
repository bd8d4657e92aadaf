// Package promql finds the metrics, labels and label values that a PromQL expression
// names, so that tests can hold rules and dashboards against what the code exports.
//
// It reads names and nothing more. Whether an expression is valid, and what it means,
// is for promtool to say: no evaluation enters this room.
package promql

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Matcher is a condition on a label inside the braces of a selector.
type Matcher struct {
	Label, Op, Value string
}

// Values are the label values that the matcher names. A regular expression counts as
// its alternatives; ok is false for one that is more than words with | between them.
func (m Matcher) Values() (values []string, ok bool) {
	if m.Op == "=" || m.Op == "!=" {
		return []string{m.Value}, true
	}
	values = strings.Split(m.Value, "|")
	return values, !slices.ContainsFunc(values, func(v string) bool { return regexp.QuoteMeta(v) != v })
}

// Selector is a metric and the conditions on its labels.
type Selector struct {
	Metric   string
	Matchers []Matcher
}

// Names are what an expression names.
type Names struct {
	Selectors []Selector
	// Labels are those of by, without, on, ignoring, group_left and group_right, and
	// the sources of label_replace and label_join.
	Labels []string
	// Made are the labels that label_replace and label_join write.
	Made []string
}

// Read collects the names of an expression.
func Read(expression string) (Names, error) {
	tokens, err := tokenize(expression)
	if err != nil {
		return Names{}, fmt.Errorf("reading %q: %w", expression, err)
	}
	r := reader{tokens: tokens}
	for r.at < len(r.tokens) {
		if err := r.next(); err != nil {
			return Names{}, fmt.Errorf("reading %q: %w", expression, err)
		}
	}
	return r.names, nil
}

var (
	// Words that take a list of labels, and words that stand between operands.
	listWords = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
	plainWord = []string{"and", "or", "unless", "atan2", "bool", "offset", "inf", "nan"}
)

// call is a function whose arguments are being read.
type call struct {
	function string
	strings  int
}

type reader struct {
	tokens []token
	at     int
	calls  []call
	names  Names
}

func (r *reader) peek(ahead int) token {
	if r.at+ahead < len(r.tokens) {
		return r.tokens[r.at+ahead]
	}
	return token{}
}

// next reads one thing: a name with what belongs to it, a string, or a sign.
func (r *reader) next() error {
	t := r.peek(0)
	switch {
	case t.kind == word:
		return r.word(t)
	case t.kind == text:
		r.argument(t.text)
	case t.text == "(":
		r.calls = append(r.calls, call{})
	case t.text == ")":
		if len(r.calls) == 0 {
			return fmt.Errorf("a ) closes nothing")
		}
		r.calls = r.calls[:len(r.calls)-1]
	case t.text == "{":
		return fmt.Errorf("a selector without a metric name")
	case t.text == "[":
		return r.skipTo("]")
	}
	r.at++
	return nil
}

func (r *reader) word(t token) error {
	lower, following := strings.ToLower(t.text), r.peek(1)
	switch {
	case slices.Contains(listWords, lower):
		return r.list(lower)
	case slices.Contains(plainWord, lower):
		r.at++
	case following.text == "(" && following.kind == sign:
		r.calls = append(r.calls, call{function: t.text})
		r.at += 2
	case following.kind == word && (strings.EqualFold(following.text, "by") || strings.EqualFold(following.text, "without")):
		r.at++ // an aggregation with its labels in front
	default:
		return r.selector(t.text)
	}
	return nil
}

// list reads the labels after by, on and their like. group_left and group_right may
// do without.
func (r *reader) list(keyword string) error {
	r.at++
	if r.peek(0).text != "(" {
		if strings.HasPrefix(keyword, "group_") {
			return nil
		}
		return fmt.Errorf("%s without a list of labels", keyword)
	}
	for r.at++; ; r.at++ {
		switch t := r.peek(0); {
		case t.kind == word:
			r.names.Labels = append(r.names.Labels, t.text)
		case t.text == ")":
			r.at++
			return nil
		case t.text != ",":
			return fmt.Errorf("%q in the labels of %s", t.text, keyword)
		}
	}
}

func (r *reader) selector(metric string) error {
	s := Selector{Metric: metric}
	r.at++
	if r.peek(0).text == "{" {
		for r.at++; r.peek(0).text != "}"; {
			label, op, value := r.peek(0), r.peek(1), r.peek(2)
			if label.kind != word || value.kind != text || !slices.Contains([]string{"=", "!=", "=~", "!~"}, op.text) {
				return fmt.Errorf("the labels of %s cannot be read at %q", metric, label.text)
			}
			s.Matchers = append(s.Matchers, Matcher{Label: label.text, Op: op.text, Value: value.text})
			r.at += 3
			if r.peek(0).text == "," {
				r.at++
			}
		}
		r.at++
	}
	r.names.Selectors = append(r.names.Selectors, s)
	return nil
}

// argument notes the labels among the strings that label_replace (expression, made,
// replacement, source, pattern) and label_join (expression, made, separator, sources)
// are given.
func (r *reader) argument(value string) {
	if len(r.calls) == 0 {
		return
	}
	c := &r.calls[len(r.calls)-1]
	c.strings++
	source := c.function == "label_replace" && c.strings == 3 || c.function == "label_join" && c.strings > 2
	switch made := strings.HasPrefix(c.function, "label_") && c.strings == 1; {
	case made:
		r.names.Made = append(r.names.Made, value)
	case source && value != "":
		r.names.Labels = append(r.names.Labels, value)
	}
}

func (r *reader) skipTo(closing string) error {
	for ; r.at < len(r.tokens); r.at++ {
		if r.tokens[r.at].text == closing {
			r.at++
			return nil
		}
	}
	return fmt.Errorf("%s is missing", strconv.Quote(closing))
}
