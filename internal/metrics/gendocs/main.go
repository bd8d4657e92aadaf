// Command gendocs writes docs/reference/metrics.md from the declarations in package
// metrics. Run it from the root of the repository:
//
//	go run ./internal/metrics/gendocs
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/sei-operator/sei-operator/internal/metrics"
)

func main() {
	out := flag.String("out", "docs/reference/metrics.md", "file to write")
	flag.Parse()
	if err := os.WriteFile(*out, []byte(page(metrics.Declarations())), 0o644); err != nil { //nolint:gosec // documentation is for everyone
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

const intro = `# Metrics

<!-- Made by: go run ./internal/metrics/gendocs. Change internal/metrics/names.go instead. -->

The manager serves these beside the metrics of controller-runtime (work queues, reconciles, REST client)
and of the Go runtime, on one endpoint: ` + "`:8443/metrics`" + `, over TLS. A scraper authenticates with a bearer token of a
ServiceAccount that is bound to the ClusterRole ` + "`sei-operator-metrics-reader`" + `.

Series that carry a ` + "`name`" + ` belong to one object and disappear when it is deleted.

`

// page renders the whole document.
func page(declarations []metrics.Declaration) string {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString("| metric | type | labels |\n|---|---|---|\n")
	for _, d := range declarations {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", d.Name, d.Name, d.Type, labels(d))
	}
	for _, d := range declarations {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", d.Name, d.Help)
		if d.Notes != "" {
			fmt.Fprintf(&b, "%s\n", strings.TrimSpace(d.Notes))
		}
		for _, label := range d.Labels {
			if len(d.Values[label]) > 0 {
				fmt.Fprintf(&b, "\nValues of `%s`: %s.\n", label, strings.Join(d.Values[label], ", "))
			}
		}
		if len(d.Buckets) > 0 {
			fmt.Fprintf(&b, "\nBuckets in seconds: %s.\n", buckets(d.Buckets))
		}
	}
	return b.String()
}

func labels(d metrics.Declaration) string {
	quoted := make([]string, 0, len(d.Labels))
	for _, l := range d.Labels {
		quoted = append(quoted, "`"+l+"`")
	}
	return strings.Join(quoted, ", ")
}

func buckets(bounds []float64) string {
	words := make([]string, 0, len(bounds))
	for _, b := range bounds {
		words = append(words, fmt.Sprintf("%g", b))
	}
	return strings.Join(words, ", ")
}
