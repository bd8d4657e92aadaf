package rpc_test

import (
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

func TestParseServer_EveryFormPeopleWrite_BecomesOneThatSeidUnderstands(t *testing.T) {
	for address, want := range map[string]struct{ text, url string }{
		"a.example:26657":              {"a.example:26657", "http://a.example:26657"},
		"tcp://a.example:26657":        {"a.example:26657", "http://a.example:26657"},
		"http://a.example:26657/":      {"a.example:26657", "http://a.example:26657"},
		"http://a.example":             {"a.example:80", "http://a.example:80"},
		"a.example:443":                {"https://a.example:443", "https://a.example:443"},
		"https://A.example":            {"https://a.example:443", "https://a.example:443"},
		"https://a.example/sei/rpc":    {"https://a.example:443/sei/rpc", "https://a.example:443/sei/rpc"},
		"http://a.example:8080/rpc/":   {"http://a.example:8080/rpc/", "http://a.example:8080/rpc/"},
		"[2001:db8::1]:26657":          {"[2001:db8::1]:26657", "http://[2001:db8::1]:26657"},
		"https://[2001:db8::1]/rpc":    {"https://[2001:db8::1]:443/rpc", "https://[2001:db8::1]:443/rpc"},
		"https://a.example:8443/x%20y": {"https://a.example:8443/x%20y", "https://a.example:8443/x%20y"},
	} {
		got, err := rpc.ParseServer(address)
		if err != nil || got.String() != want.text || got.URL() != want.url {
			t.Errorf("ParseServer(%q) = %q, %q, %v, want %q, %q", address, got, got.URL(), err, want.text, want.url)
		}
		again, err := rpc.ParseServer(got.String())
		if err != nil || again != got {
			t.Errorf("ParseServer(%q) = %v, %v, want the same server again", got.String(), again, err)
		}
	}
}

func TestParseServer_WhatSeidCannotUse_IsRefusedInWords(t *testing.T) {
	for address, want := range map[string]string{
		"":                      "has no port",
		"a.example":             "has no port",
		"[::1]":                 "has no port",
		"a.example:":            "is not a port",
		"a.example:0":           "is not a port",
		"a.example:70000":       "is not a port",
		":26657":                "names no host",
		"https://":              "names no host",
		"ftp://a.example":       `scheme "ftp"`,
		"https://u:p@a.example": "credentials",
		"https://a.example/?k":  "query",
		"https://a.example/#x":  "query or fragment",
		"a:1,b:2":               "commas",
		"a :1":                  "spaces",
		"http://a\x7f:1":        "spaces",
	} {
		if got, err := rpc.ParseServer(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseServer(%q) = %v, %v, want an error with %q", address, got, err, want)
		}
	}
}
