package promql

import (
	"fmt"
	"regexp"
	"strconv"
)

type kind int

const (
	sign kind = iota
	word
	text
	number
)

type token struct {
	kind kind
	text string
}

// What a token can look like, tried in this order.
var shapes = []struct {
	kind    kind
	pattern *regexp.Regexp
}{
	{text, regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `)`)},
	{word, regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*`)},
	{number, regexp.MustCompile(`^[0-9][0-9a-zA-Z_.]*`)},
	{sign, regexp.MustCompile(`^(==|!=|>=|<=|=~|!~|[-+*/%^<>=(){}\[\],:@])`)},
}

var blank = regexp.MustCompile(`^(\s+|#[^\n]*)+`)

func tokenize(expression string) ([]token, error) {
	var found []token
	for rest := expression[len(blank.FindString(expression)):]; rest != ""; rest = rest[len(blank.FindString(rest)):] {
		t, length, err := firstToken(rest)
		if err != nil {
			return nil, err
		}
		found = append(found, t)
		rest = rest[length:]
	}
	return found, nil
}

func firstToken(rest string) (token, int, error) {
	for _, shape := range shapes {
		match := shape.pattern.FindString(rest)
		if match == "" {
			continue
		}
		if shape.kind != text {
			return token{kind: shape.kind, text: match}, len(match), nil
		}
		value, err := unquote(match)
		return token{kind: text, text: value}, len(match), err
	}
	return token{}, 0, fmt.Errorf("%q is no PromQL", rest[:1])
}

func unquote(quoted string) (string, error) {
	if quoted[0] == '\'' {
		return quoted[1 : len(quoted)-1], nil
	}
	value, err := strconv.Unquote(quoted)
	if err != nil {
		return "", fmt.Errorf("the string %s: %w", quoted, err)
	}
	return value, nil
}
