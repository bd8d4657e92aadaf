package main

import "runtime/debug"

// Set at link time by release builds.
var version, commit string

// buildInfo returns the version and commit of this binary: those of the release
// build, otherwise what the Go tool recorded.
func buildInfo() (string, string) {
	v, c := version, commit
	if info, ok := debug.ReadBuildInfo(); ok {
		if v == "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if c == "" && s.Key == "vcs.revision" {
				c = s.Value
			}
		}
	}
	if v == "" {
		v = "(devel)"
	}
	if c == "" {
		c = "unknown"
	}
	return v, c
}
