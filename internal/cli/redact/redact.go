// Package redact removes secrets from texts and objects that leave a cluster in a report. It knows
// them by what they look like, and by the names they stand under: it does not read Secrets, so that
// a report cannot hold what was in one. Too much is removed rather than too little. It does no I/O.
package redact

import (
	"regexp"
	"slices"
)

// mark stands in the place of what was removed.
const mark = "[REDACTED]"

// secretWords are names of what is secret.
const secretWords = `password|passphrase|passwd|mnemonic|api[_-]?key|access[_-]?key|secret[_-]?key`

// shapes are what secrets look like, in texts of any kind. Quotes may be escaped, as they are in a
// JSON document inside a log line.
var shapes = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\z)`), mark + " private key"},
	{regexp.MustCompile(`tendermint/PrivKey[A-Za-z0-9]+\\*"\s*,\s*\\*"value\\*"\s*:\s*\\*"[^"\\]*`), mark + " private key"},
	{regexp.MustCompile(`\\*"value\\*"\s*:\s*\\*"[^"\\]*\\*"\s*,\s*\\*"type\\*"\s*:\s*\\*"tendermint/PrivKey[A-Za-z0-9]+`), mark + " private key"},
	// 64 bytes in base64: an Ed25519 key, or a signature, which is no loss.
	{regexp.MustCompile(`\b[A-Za-z0-9+/]{86}==`), mark},
	{regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)?`), mark + " token"},
	{regexp.MustCompile(`(?i)\bbearer [A-Za-z0-9._~+/=-]{8,}`), "Bearer " + mark},
	{regexp.MustCompile(`(?i)(X-Amz-(?:Signature|Credential|Security-Token)=)[^&\s"']+`), "${1}" + mark},
	{regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`), mark},
	{regexp.MustCompile(`(://)[^/\s:@"']*:[^@\s/"']+@`), "${1}" + mark + "@"},
	// The words for an account, and what seid prints around them.
	{regexp.MustCompile(`(?:\b[a-z]{3,8} ){11,23}[a-z]{3,8}\b`), mark + " words"},
	{regexp.MustCompile(`[^\n"]*only way to recover your account[^\n"]*`), mark + " notice of a mnemonic"},
	// name=value and name: value, quoted or not; a value in quotes ends with them. Sentences mention
	// a Secret or a token before a colon, so that these two need quotes or an equals sign.
	{regexp.MustCompile(`(?i)(` + secretWords + `|secret|token)(\\*["']?[ \t]*[=:][ \t]*\\*)"(?:[^"\\]|\\[^"])+`), `${1}${2}"` + mark},
	{regexp.MustCompile(`(?i)(` + secretWords + `)(["']?[ \t]*[=:][ \t]*)[^\s"'\\,}\[]+`), "${1}${2}" + mark},
	{regexp.MustCompile(`(?i)(secret|token)([ \t]*=[ \t]*)[^\s"'\\,}\[]+`), "${1}${2}" + mark},
}

// Text removes what looks like a secret.
func Text(text string) string {
	for _, s := range shapes {
		text = s.pattern.ReplaceAllString(text, s.instead)
	}
	return text
}

var (
	// secretField is the name of a field, an override or an annotation whose value is secret.
	secretField = regexp.MustCompile(`(?i)(password|passphrase|mnemonic|psql[_-]?conn|api[_-]?key|secret[_-]?key|access[_-]?key|auth[_-]?token)$`)
	// secretVariable is the name of an environment variable whose value is secret.
	secretVariable = regexp.MustCompile(`(?i)(pass|secret|token|key|credential|mnemonic)`)
	// repeated hold the whole object once more.
	repeated = []string{"kubectl.kubernetes.io/last-applied-configuration"}
)

// Object removes secrets from an object by the names they stand under, and what only repeats the
// object. It changes the object.
func Object(content map[string]any) {
	if metadata, ok := content["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			for _, name := range repeated {
				delete(annotations, name)
			}
		}
	}
	if kind := content["kind"]; kind == "Secret" {
		delete(content, "data")
		delete(content, "stringData")
	}
	walk(content)
}

func walk(value any) {
	switch v := value.(type) {
	case map[string]any:
		redactVariable(v)
		for name, below := range v {
			if _, isText := below.(string); isText && secretField.MatchString(name) {
				v[name] = mark
				continue
			}
			walk(below)
		}
	case []any:
		for _, below := range slices.All(v) {
			walk(below)
		}
	}
}

// redactVariable removes the value of an environment variable, which is an object with a name and a
// value.
func redactVariable(v map[string]any) {
	name, named := v["name"].(string)
	if _, valued := v["value"].(string); named && valued && secretVariable.MatchString(name) {
		v["value"] = mark
	}
}
