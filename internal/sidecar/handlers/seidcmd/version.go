package seidcmd

import (
	"context"
	"errors"
	"strings"
)

// Version is what the binary calls itself.
func (r Runner) Version(ctx context.Context) (string, error) {
	out, err := r.Run(ctx, Call{Args: []string{"version"}, Merge: true})
	if err != nil {
		return "", err
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if version == "" {
		return "", errors.New("running seid version: it says nothing")
	}
	return version, nil
}

// BuildTags are what the binary was built with: some storage engines need one.
func (r Runner) BuildTags(ctx context.Context) ([]string, error) {
	out, err := r.Run(ctx, Call{Args: []string{"version", "--long"}, Merge: true})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if list, ok := strings.CutPrefix(line, "build_tags:"); ok {
			return strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '"' }), nil
		}
	}
	return nil, errors.New("running seid version --long: it does not tell its build tags")
}
