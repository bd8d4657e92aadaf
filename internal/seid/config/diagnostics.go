package config

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Severity is how bad a diagnostic is.
type Severity string

// The severities. Only errors stop a configuration from being written.
const (
	SeverityError   Severity = "ERROR"
	SeverityWarning Severity = "WARNING"
	SeverityInfo    Severity = "INFO"
)

// Diagnostic is one finding about a configuration.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	// Field is the unified key at fault.
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Diagnostics is all that was found.
type Diagnostics []Diagnostic

// HasErrors reports whether the configuration must not be used.
func (d Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(d, func(x Diagnostic) bool { return x.Severity == SeverityError })
}

// JSON is the list as the sidecar's errors carry it.
func (d Diagnostics) JSON() string {
	if d == nil {
		d = Diagnostics{}
	}
	out, err := json.Marshal(d)
	if err != nil {
		return fmt.Sprintf("%v", []Diagnostic(d)) // cannot happen: strings only
	}
	return string(out)
}

// Report is the outcome of config-validate.
type Report struct {
	Valid       bool        `json:"valid"`
	Version     int         `json:"version"`
	Mode        string      `json:"mode"`
	Diagnostics Diagnostics `json:"diagnostics"`
}

// NewReport validates files and says what they are.
func NewReport(files Files, facts Facts) Report {
	d := Validate(files, facts)
	if d == nil {
		d = Diagnostics{}
	}
	version := CurrentVersion
	if v, ok := newView(files).integer("version"); ok {
		version = int(v)
	}
	return Report{Valid: !d.HasErrors(), Version: version, Mode: modeOf(files), Diagnostics: d}
}

// Unreadable reports on files that are no configuration at all.
func Unreadable(err error) Report {
	return Report{Version: CurrentVersion, Diagnostics: Diagnostics{{SeverityError, "files", err.Error()}}}
}

// modeOf is the mode that the engine noted, or else the consensus engine's.
func modeOf(files Files) string {
	for _, p := range []Place{placeMode, placeEngineMode} {
		if v, ok := files.lookup(p); ok {
			s, _ := v.(string)
			return s
		}
	}
	return ""
}
