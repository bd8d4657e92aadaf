package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
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
