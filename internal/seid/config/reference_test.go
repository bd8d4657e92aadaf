package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid"
)

var update = flag.Bool("update", false, "write docs/reference/configuration-keys.md instead of comparing with it")

const referenceFile = "../../../docs/reference/configuration-keys.md"

func TestKeyReference_IsUpToDate(t *testing.T) {
	want := keyReference()
	if *update {
		if err := os.WriteFile(referenceFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run go test ./internal/seid/config -run KeyReference -update (-want +got):\n%s", diff)
	}
}

// keyReference writes the table of all keys for people.
func keyReference() string {
	var b strings.Builder
	b.WriteString(`# Configuration keys

<!-- Made by: go test ./internal/seid/config -run KeyReference -update. Change internal/seid/config instead. -->

Every unified key, where it is written, and what the profile of each mode sets it to. A mode without
a value keeps what ` + "`seid init`" + ` of the node's own version wrote. "or" names where newer versions
of seid keep the setting; the operator writes it where the node's files have it. Keys marked † may
change without a restart; keys marked ‡ decide how a node signs blocks, and no override sets them.
How to set keys: [configuration of a node](../how-to/configuration.md).

| key | type | file and TOML key | validator | full | seed | archive |
|---|---|---|---|---|---|---|
`)
	profiles := map[seid.Mode]map[string]string{}
	for _, mode := range seid.Modes() {
		profiles[mode] = map[string]string{}
		for _, s := range profile(mode, 0) {
			profiles[mode][s.key] = s.value
		}
	}
	for _, name := range Keys() {
		key := registry[name]
		mark := ""
		if key.HotReload {
			mark = " †"
		}
		if key.refuseSigning() != nil {
			mark = " ‡"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | %s |", name, mark, publicType(key.Kind), placesText(key))
		for _, mode := range seid.Modes() {
			value := profiles[mode][name]
			if value != "" {
				value = "`" + value + "`"
			}
			fmt.Fprintf(&b, " %s |", value)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func publicType(k Kind) string {
	switch k {
	case KindDigits:
		return "number"
	case KindList, KindCommaList:
		return "list"
	case KindLabels:
		return "name=value list"
	}
	return string(k)
}

func placesText(k Key) string {
	if len(k.Places) == 0 {
		return "written nowhere"
	}
	quote := func(places []Place) string {
		parts := make([]string, 0, len(places))
		for _, p := range places {
			parts = append(parts, "`"+p.String()+"`")
		}
		return strings.Join(parts, " and ")
	}
	text := quote(k.Places)
	if len(k.Variants) > 0 {
		text += " or " + quote(k.Variants)
	}
	return text
}
