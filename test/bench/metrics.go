package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/kubernetes"
)

// fetch copies what a URL answers.
func fetch(ctx context.Context, url string, to io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("asking %s: %s", url, resp.Status)
	}
	if _, err := io.Copy(to, resp.Body); err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	return nil
}

// sumOf adds up the series of a metric that carry all the labels, each written as
// name="value".
func sumOf(text []byte, name string, labels ...string) float64 {
	var sum float64
series:
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || (rest[0] != '{' && rest[0] != ' ') {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(rest, label) {
				continue series
			}
		}
		value := rest[strings.LastIndexByte(rest, ' ')+1:]
		if v, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			sum += v
		}
	}
	return sum
}

// serverWrites are the writes that the API server has answered since its start, by verb and resource,
// whoever made them.
func (w *world) serverWrites(ctx context.Context) (map[string]float64, error) {
	clients, err := kubernetes.NewForConfig(w.Config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	text, err := clients.RESTClient().Get().RequestURI("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	return writesIn(text), nil
}

// writesIn sums up the writes in the API server's metrics.
func writesIn(text []byte) map[string]float64 {
	found := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		labels, value, ok := strings.Cut(strings.TrimPrefix(line, "apiserver_request_total{"), "} ")
		if !ok || !strings.HasPrefix(line, "apiserver_request_total{") {
			continue
		}
		verb, resource := labelOf(labels, "verb"), labelOf(labels, "resource")
		if sub := labelOf(labels, "subresource"); sub != "" {
			resource += "/" + sub
		}
		count, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE"}, verb) || slices.Contains(notWritten, resource) {
			continue
		}
		found[strings.ToLower(verb)+" "+resource] += count
	}
	return found
}

// notWritten are resources that are posted and not stored, and the leases of those who watch over
// themselves.
var notWritten = []string{"leases", "serviceaccounts/token", "tokenreviews", "subjectaccessreviews", "selfsubjectaccessreviews"}

func labelOf(labels, name string) string {
	_, rest, _ := strings.Cut(labels, name+"=\"")
	if !strings.HasPrefix(labels, name+"=") {
		_, rest, _ = strings.Cut(labels, ","+name+"=\"")
	}
	value, _, _ := strings.Cut(rest, "\"")
	return value
}
