// Package dashboards reads the Grafana dashboards of config/monitoring/dashboards, so
// that tests can hold their queries against what the operator exports: here by name, in
// test/e2e against a Prometheus that has scraped a live operator.
//
// It knows of Grafana what a query needs, the variables and the panels. How a dashboard
// looks is no concern of it.
package dashboards

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Dashboard is one JSON file.
type Dashboard struct {
	File        string     `json:"-"`
	UID         string     `json:"uid"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Templating  Templating `json:"templating"`
	Panels      []Panel    `json:"panels"`
}

// Templating holds the variables of a dashboard.
type Templating struct {
	List []Variable `json:"list"`
}

// Variable is what a user chooses at the top.
type Variable struct {
	Name  string          `json:"name"`
	Type  string          `json:"type"`
	Query json.RawMessage `json:"query"`
}

// Expression is the query that the variable's values come from; empty if they come from
// no metric.
func (v Variable) Expression() string {
	var q struct {
		Query string `json:"query"`
	}
	if v.Type != "query" || json.Unmarshal(v.Query, &q) != nil {
		return ""
	}
	return q.Query
}

// Panel is one picture.
type Panel struct {
	ID          int     `json:"id"`
	Type        string  `json:"type"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	GridPos     GridPos `json:"gridPos"`
	Targets     []Query `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
}

// GridPos is where a panel is.
type GridPos struct {
	H, W, X, Y int
}

// Query is one of the expressions that a panel shows.
type Query struct {
	RefID  string `json:"refId"`
	Expr   string `json:"expr"`
	Legend string `json:"legendFormat"`
}

// With is the expression with variables replaced by values. Grafana's own
// $__rate_interval is one of them.
func (q Query) With(values map[string]string) (string, error) {
	var unknown error
	expr := variable.ReplaceAllStringFunc(q.Expr, func(name string) string {
		value, known := values[name[1:]]
		if !known {
			unknown = fmt.Errorf("nobody gives a value to %s", name)
		}
		return value
	})
	return expr, unknown
}

var variable = regexp.MustCompile(`\$\w+`)

// Name is what the legend calls a series.
func (q Query) Name(labels map[string]string) string {
	name := q.Legend
	for label, value := range labels {
		name = strings.ReplaceAll(name, "{{"+label+"}}", value)
	}
	// A zero that stands in for nothing has no labels.
	return strings.TrimSpace(placeholder.ReplaceAllString(name, ""))
}

var placeholder = regexp.MustCompile(`{{\w+}}`)

// Load reads all dashboards of a folder.
func Load(folder string) ([]Dashboard, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("looking for dashboards: %w", err)
	}
	if len(files) == 0 {
		return nil, errors.New("looking for dashboards: there are none in " + folder)
	}
	all := make([]Dashboard, 0, len(files))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a dashboard: %w", err)
		}
		d := Dashboard{File: filepath.Base(file)}
		if err := json.NewDecoder(bytes.NewReader(content)).Decode(&d); err != nil {
			return nil, fmt.Errorf("reading dashboard %s: %w", d.File, err)
		}
		all = append(all, d)
	}
	return all, nil
}
