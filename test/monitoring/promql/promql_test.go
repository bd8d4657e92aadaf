package promql_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sei-operator/sei-operator/test/monitoring/promql"
)

func TestRead_FindsEveryName(t *testing.T) {
	tests := map[string]promql.Names{
		`up`: {Selectors: []promql.Selector{{Metric: "up"}}},
		`rate(a_total{result="changed", name!~"x|y"}[5m] offset 1h) > 0.1`: {Selectors: []promql.Selector{{
			Metric: "a_total", Matchers: []promql.Matcher{{Label: "result", Op: "=", Value: "changed"}, {Label: "name", Op: "!~", Value: "x|y"}},
		}}},
		`max by (namespace, name) (a) == 1 unless on (name) b{}`: {
			Selectors: []promql.Selector{{Metric: "a"}, {Metric: "b"}}, Labels: []string{"namespace", "name", "name"},
		},
		`sum(a) without (pod) / ignoring(x) group_left b`: {
			Selectors: []promql.Selector{{Metric: "a"}, {Metric: "b"}}, Labels: []string{"pod", "x"},
		},
		`a * on (x) group_left(y) sei:b:rate5m`: {
			Selectors: []promql.Selector{{Metric: "a"}, {Metric: "sei:b:rate5m"}}, Labels: []string{"x", "y"},
		},
		`label_replace(max by (n) (a{k='v'}), "made", "$1", "source", "(.+)-[0-9]+")`: {
			Selectors: []promql.Selector{{Metric: "a", Matchers: []promql.Matcher{{Label: "k", Op: "=", Value: "v"}}}},
			Labels:    []string{"n", "source"}, Made: []string{"made"},
		},
		`label_join(a, "made", "-", "one", "two")`: {
			Selectors: []promql.Selector{{Metric: "a"}}, Labels: []string{"one", "two"}, Made: []string{"made"},
		},
		"histogram_quantile(0.99, sum by (le) (rate(a_bucket[10m]))) # a remark\n > bool 1e3": {
			Selectors: []promql.Selector{{Metric: "a_bucket"}}, Labels: []string{"le"},
		},
		`absent(up{job="x"} == 1) or vector(1) and time() < Inf`: {
			Selectors: []promql.Selector{{Metric: "up", Matchers: []promql.Matcher{{Label: "job", Op: "=", Value: "x"}}}},
		},
	}
	for expression, want := range tests {
		got, err := promql.Read(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expression, diff)
		}
	}
}

func TestRead_WhatItCannotRead_IsAnError(t *testing.T) {
	for _, expression := range []string{`{__name__="a"}`, `a)`, `a{x=1}`, `a{x="1"`, `sum by x (a)`, `sum by (1) (a)`, `a[5m`, `a ; b`, `a{x="\q"}`} {
		if names, err := promql.Read(expression); err == nil {
			t.Errorf("%s was read as %v", expression, names)
		}
	}
}

func TestValues_OfARegularExpression_AreItsWords(t *testing.T) {
	tests := []struct {
		matcher promql.Matcher
		want    []string
		ok      bool
	}{
		{promql.Matcher{Op: "=", Value: "a|b"}, []string{"a|b"}, true},
		{promql.Matcher{Op: "=~", Value: "a|b-c"}, []string{"a", "b-c"}, true},
		{promql.Matcher{Op: "!~", Value: "a.*|b"}, []string{"a.*", "b"}, false},
	}
	for _, test := range tests {
		got, ok := test.matcher.Values()
		if diff := cmp.Diff(test.want, got); diff != "" || ok != test.ok {
			t.Errorf("%v: ok is %t, values (-want +got):\n%s", test.matcher, ok, diff)
		}
	}
}
