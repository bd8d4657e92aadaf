package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
)

// entry is a file of an archive or of an image's layer.
type entry struct {
	path    string
	mode    int64
	content []byte
}

// sorted are the entries in the order of their paths, which no archive may leave to chance.
func sorted(entries []entry) []entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return strings.Compare(a.path, b.path) })
}

// tarOf is a tar of the entries, without times and owners.
func tarOf(entries []entry) ([]byte, error) {
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for _, e := range sorted(entries) {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.path, Mode: e.mode, Size: int64(len(e.content)), Format: tar.FormatUSTAR}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("archiving %s: %w", e.path, err)
		}
		if _, err := writer.Write(e.content); err != nil {
			return nil, fmt.Errorf("archiving %s: %w", e.path, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("ending the archive: %w", err)
	}
	return out.Bytes(), nil
}

// tarGzipOf is tarOf, compressed.
func tarGzipOf(entries []entry) ([]byte, error) {
	content, err := tarOf(entries)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := writer.Write(content); err != nil {
		return nil, fmt.Errorf("compressing the archive: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("compressing the archive: %w", err)
	}
	return out.Bytes(), nil
}
