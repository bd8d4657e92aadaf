package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func lookupIn(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
}

func TestReadSettings_Defaults(t *testing.T) {
	got, err := readSettings(lookupIn(map[string]string{"SEI_CHAIN_ID": "test-1"}), "/sei", 7777)
	if err != nil {
		t.Fatal(err)
	}
	want := settings{
		Home: "/sei", ChainID: "test-1", Seid: "seid", Listen: "127.0.0.1:7777", AuthMode: "unauthenticated",
		UploadInterval: 168 * time.Hour, UploadTimeout: 2 * time.Hour,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func inPod(change map[string]string) map[string]string {
	env := map[string]string{
		"SEI_CHAIN_ID": "test-1", "KUBERNETES_SERVICE_HOST": "198.18.0.1", "SEI_NODE_NAMESPACE": "chain", "SEI_NODE_NAME": "node-0",
		"SEI_POD_UID": "7d2c", "SEI_SIDECAR_ALLOWED_SUBJECTS": "system:serviceaccount:sei-system:sei-operator",
	}
	for name, value := range change {
		env[name] = value
		if value == "" {
			delete(env, name)
		}
	}
	return env
}

func TestReadSettings_InAPod_AsksForTokens(t *testing.T) {
	got, err := readSettings(lookupIn(inPod(map[string]string{
		"SEI_GENESIS_BUCKET": "genesis", "SEI_GENESIS_REGION": "eu-central-1", "SEI_SNAPSHOT_BUCKET_URL": "gs://snapshots",
		"SEI_SNAPSHOT_UPLOAD_TIMEOUT": "90m", "SEI_KEYRING_BACKEND": "file", "SEI_KEYRING_PASSPHRASE": "hush", "SEI_KEYRING_DIR": "/sei",
		"SEI_SIDECAR_ALLOWED_SUBJECTS": "system:serviceaccount:a:b, system:serviceaccount:c:d,", "SEI_NODE_UID": "u-0",
		"SEI_SIDECAR_TLS_DIR": "/tls",
	})), "/sei", 7777)
	if err != nil {
		t.Fatal(err)
	}
	want := settings{
		Home: "/sei", ChainID: "test-1", Seid: "seid", Listen: ":7777", AuthMode: "kubernetes",
		GenesisBucket: "s3://genesis?region=eu-central-1", SnapshotBucket: "gs://snapshots",
		UploadInterval: 168 * time.Hour, UploadTimeout: 90 * time.Minute,
		Subjects: []string{"system:serviceaccount:a:b", "system:serviceaccount:c:d"}, Audience: "sei-sidecar/chain/node-0/u-0",
		APIServer: "https://kubernetes.default.svc", APIToken: "/var/run/secrets/kubernetes.io/serviceaccount/token",
		APICA: "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt", Node: "chain/node-0", NodeUID: "u-0", PodUID: "7d2c", TLSDir: "/tls",
		KeyringBackend: "file", KeyringDir: "/sei", KeyringPassphrase: "hush",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// With a passphrase file, the passphrase itself is not required.
func TestReadSettings_PassphraseInAFile(t *testing.T) {
	got, err := readSettings(lookupIn(inPod(map[string]string{
		"SEI_KEYRING_BACKEND": "file", "SEI_KEYRING_PASSPHRASE_FILE": "/run/p", "SEI_KEYRING_PASSPHRASE": "of an older operator",
	})), "/sei", 7777)
	if err != nil || got.KeyringPassphraseFile != "/run/p" || got.KeyringPassphrase != "" {
		t.Errorf("file %q, passphrase %q, %v", got.KeyringPassphraseFile, got.KeyringPassphrase, err)
	}
}

func TestReadSettings_Mistakes_NameTheVariable(t *testing.T) {
	for name, tc := range map[string]struct {
		change map[string]string
		names  string
	}{
		"no chain id":             {map[string]string{"SEI_CHAIN_ID": ""}, "required environment variable SEI_CHAIN_ID is not set"},
		"unknown mode":            {map[string]string{"SEI_SIDECAR_AUTHN_MODE": "magic"}, "SEI_SIDECAR_AUTHN_MODE"},
		"open to the world":       {map[string]string{"SEI_SIDECAR_AUTHN_MODE": "Unauthenticated ", "SEI_SIDECAR_BIND_ADDRESS": "0.0.0.0"}, "SEI_SIDECAR_BIND_ADDRESS"},
		"all addresses, IPv6":     {map[string]string{"SEI_SIDECAR_AUTHN_MODE": "unauthenticated", "SEI_SIDECAR_BIND_ADDRESS": "::"}, "SEI_SIDECAR_BIND_ADDRESS"},
		"header from anywhere":    {map[string]string{"SEI_SIDECAR_AUTHN_MODE": "trusted-header", "SEI_SIDECAR_BIND_ADDRESS": "198.18.0.1"}, "SEI_SIDECAR_BIND_ADDRESS"},
		"no subjects":             {map[string]string{"SEI_SIDECAR_ALLOWED_SUBJECTS": ""}, "SEI_SIDECAR_ALLOWED_SUBJECTS"},
		"odd subject":             {map[string]string{"SEI_SIDECAR_ALLOWED_SUBJECTS": "admin"}, "SEI_SIDECAR_ALLOWED_SUBJECTS"},
		"no node":                 {map[string]string{"SEI_NODE_NAME": ""}, "SEI_NODE_NAME"},
		"no pod":                  {map[string]string{"SEI_POD_UID": ""}, "SEI_POD_UID"},
		"plain API server":        {map[string]string{"SEI_SIDECAR_APISERVER_URL": "http://x"}, "SEI_SIDECAR_APISERVER_URL"},
		"bad duration":            {map[string]string{"SEI_SNAPSHOT_UPLOAD_TIMEOUT": "2 hours"}, "SEI_SNAPSHOT_UPLOAD_TIMEOUT"},
		"negative duration":       {map[string]string{"SEI_SNAPSHOT_UPLOAD_INTERVAL": "-1h"}, "SEI_SNAPSHOT_UPLOAD_INTERVAL"},
		"two buckets":             {map[string]string{"SEI_GENESIS_BUCKET": "a", "SEI_GENESIS_BUCKET_URL": "s3://b"}, "SEI_GENESIS_BUCKET_URL"},
		"bucket without scheme":   {map[string]string{"SEI_SNAPSHOT_BUCKET_URL": "snapshots"}, "SEI_SNAPSHOT_BUCKET_URL"},
		"unknown keyring":         {map[string]string{"SEI_KEYRING_BACKEND": "kwallet"}, "SEI_KEYRING_BACKEND"},
		"keyring without its key": {map[string]string{"SEI_KEYRING_BACKEND": "file"}, "SEI_KEYRING_PASSPHRASE"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readSettings(lookupIn(inPod(tc.change)), "/sei", 7777)
			if err == nil || !strings.Contains(err.Error(), tc.names) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one complaint about %s", err, tc.names)
			}
		})
	}
}

func TestReadSettings_SeveralMistakes_AreAllReported(t *testing.T) {
	_, err := readSettings(lookupIn(map[string]string{"SEI_KEYRING_BACKEND": "x", "SEI_SNAPSHOT_UPLOAD_TIMEOUT": "y"}), "/sei", 7777)
	for _, name := range []string{"SEI_CHAIN_ID", "SEI_KEYRING_BACKEND", "SEI_SNAPSHOT_UPLOAD_TIMEOUT"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("no word about %s in %v", name, err)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "[::1]": true, "localhost": true,
		"": false, "0.0.0.0": false, "::": false, "198.18.0.1": false, "localhost.example": false, "::ffff:127.0.0.1": true,
	} {
		if got := isLoopback(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
