package redact_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/cli/redact"
)

const canary = "cAnArY0123456789abcdefghijKLMNOP"

func TestText_ShapesOfSecrets_AreRemoved(t *testing.T) {
	key64 := strings.Repeat("Ab1+", 21) + "Zz=="
	for name, text := range map[string]string{
		"key file":            `{"priv_key":{"type":"tendermint/PrivKeyEd25519","value":"` + canary + `"}}`,
		"key file, turned":    `{"value": "` + canary + `", "type": "tendermint/PrivKeyEd25519"}`,
		"key file in a log":   `{"msg":"read {\"type\":\"tendermint/PrivKeySecp256k1\",\"value\":\"` + canary + `\"}"}`,
		"PEM":                 "a\n-----BEGIN EC PRIVATE KEY-----\n" + canary + "\n-----END EC PRIVATE KEY-----\nb",
		"PEM that is cut off": "-----BEGIN PRIVATE KEY-----\n" + canary,
		"token":               "token eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0." + canary,
		"header":              "Authorization: Bearer " + canary,
		"signed address":      "GET https://b.s3.amazonaws.com/x?X-Amz-Signature=" + canary + "&a=b",
		"address with login":  "postgres://sei:" + canary + "@db:5432/x",
		"flag":                "--keyring-passphrase=" + canary,
		"JSON field":          `{"passphrase":"` + canary + ` with spaces"}`,
		"JSON in JSON":        `{"msg":"{\"password\":\"` + canary + `\"}"}`,
		"query":               "GET /x?token=" + canary,
		"YAML field":          "password: " + canary,
	} {
		if got := redact.Text(text); strings.Contains(got, canary) || !strings.Contains(got, "[REDACTED]") {
			t.Errorf("%s: %s became %s", name, text, got)
		}
	}
	if got := redact.Text("key " + key64); strings.Contains(got, key64) {
		t.Errorf("64 bytes in base64 stay: %s", got)
	}
}

func TestText_AMnemonic_IsRemoved(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("canary ocean vivid ", 8))
	got := redact.Text("It is the only way to recover your account if you forget your password.\n\n" + words + "\n")
	if strings.Contains(got, "canary ocean") || strings.Contains(got, "recover your account") {
		t.Errorf("got %s", got)
	}
}

func TestText_WhatSupportNeeds_Stays(t *testing.T) {
	for _, text := range []string{
		`2026-11-15T11:59:02Z INF committed state app_hash=4F2A height=10 module=state`,
		`{"msg":"plan started","namespace":"sei","name":"rpc-0","secretName":"val-0-signing"}`,
		"signingKey:\n  secret:\n    secretName: val-0-signing\n",
		"peers: 3b1f0c2a4d5e6f708192a3b4c5d6e7f809182736@rpc-1.sei.svc:26656",
		"image: registry:5000/sei/seid:v6.4.0@sha256:" + strings.Repeat("0a", 32),
		"KeyNotReady: Secret: val-0-signing does not exist",
		"seid refuses the configuration that the spec asks for; the node runs on its last good one",
	} {
		if got := redact.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestObject_ValuesUnderSecretNames_AreRemoved(t *testing.T) {
	object := map[string]any{
		"kind": "Pod",
		"metadata": map[string]any{
			"managedFields": []any{"x"},
			"annotations":   map[string]any{"kubectl.kubernetes.io/last-applied-configuration": canary, "note": "stays"},
		},
		"spec": map[string]any{
			"overrides":  map[string]any{"tx_index.psql_conn": canary, "evm.http_port": "8545"},
			"secretName": "stays",
			"containers": []any{map[string]any{"name": "token-reader", "env": []any{
				map[string]any{"name": "AWS_SECRET_ACCESS_KEY", "value": canary},
				map[string]any{"name": "HOME", "value": "/home"},
			}}},
		},
	}
	redact.Object(object)
	want := map[string]any{
		"kind":     "Pod",
		"metadata": map[string]any{"annotations": map[string]any{"note": "stays"}},
		"spec": map[string]any{
			"overrides":  map[string]any{"tx_index.psql_conn": "[REDACTED]", "evm.http_port": "8545"},
			"secretName": "stays",
			"containers": []any{map[string]any{"name": "token-reader", "env": []any{
				map[string]any{"name": "AWS_SECRET_ACCESS_KEY", "value": "[REDACTED]"},
				map[string]any{"name": "HOME", "value": "/home"},
			}}},
		},
	}
	if diff := cmp.Diff(want, object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestObject_ASecret_LosesItsData(t *testing.T) {
	object := map[string]any{"kind": "Secret", "data": map[string]any{"k": canary}, "stringData": map[string]any{"k": canary}, "type": "Opaque"}
	redact.Object(object)
	if diff := cmp.Diff(map[string]any{"kind": "Secret", "type": "Opaque"}, object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
