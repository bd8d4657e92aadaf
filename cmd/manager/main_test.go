package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/sei-operator/sei-operator/internal/manager"
)

var update = flag.Bool("update", false, "write docs/reference/manager-flags.md")

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestParse_NoFlags_IsSafeByDefault(t *testing.T) {
	got, err := parse(nil, env("POD_NAMESPACE", "ops"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := manager.Config{
		Namespace: "ops", Concurrency: 10, MetricsAddress: ":8443", ProbeAddress: ":8081", LeaderElection: true,
		ShutdownTimeout: 30 * time.Second, SidecarTokenFile: "/var/run/secrets/sei-sidecar/token", AllowSharedAudience: true, AllowPlaintext: true,
	}
	if diff := cmp.Diff(want, got.manager); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if got.logFormat != "json" || got.logLevel != "info" || got.qps >= 0 || got.configFile != "" {
		t.Errorf("settings = %+v", got)
	}
}

func TestParse_Nonsense_IsRefused(t *testing.T) {
	for args, want := range map[string]string{
		"--no-such-flag":                       "unknown flag: --no-such-flag",
		"start":                                `"start" is not a flag`,
		"--concurrency=many":                   "--concurrency",
		"--kube-api-qps=0":                     "--kube-api-qps",
		"--kube-api-qps=5 --kube-api-burst=0":  "--kube-api-burst",
		"--shutdown-timeout=30":                "--shutdown-timeout",
		"--leader-elect=perhaps":               "--leader-elect",
		"--metrics-bind-address=:1 unexpected": `"unexpected" is not a flag`,
	} {
		if _, err := parse(strings.Fields(args), env(), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func TestRun_Help_IsNoFailure(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, env(), io.Discard, &out); !errors.Is(err, pflag.ErrHelp) {
		t.Errorf("err = %v", err)
	}
	if !strings.Contains(out.String(), "--sidecar-token-file") {
		t.Errorf("help is %q", out.String())
	}
}

func TestRun_Version_SaysWhatItIs(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--version"}, env(), &out, io.Discard); err != nil || !strings.HasPrefix(out.String(), "sei-operator ") {
		t.Errorf("version is %q, %v", out.String(), err)
	}
}

func TestRun_BadStart_SaysWhy(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(broken, []byte("clusterDomian: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"log level":            {[]string{"--log-level=loud"}, `--log-level "loud"`},
		"log format":           {[]string{"--log-format=xml"}, `--log-format "xml"`},
		"configuration":        {[]string{"--config=" + broken}, broken + ":1"},
		"configuration file":   {[]string{"--config=/does/not/exist"}, "/does/not/exist"},
		"namespace":            {[]string{"--namespace=Not/One"}, "--namespace"},
		"sidecar token":        {[]string{"--namespace=ops", "--kubeconfig=" + kubeconfig(t), "--sidecar-token-file=/does/not/exist"}, "/does/not/exist"},
		"kubeconfig is absent": {[]string{"--namespace=ops", "--kubeconfig=/not/there"}, "finding the API server"},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), tc.args, env(), io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
		})
	}
}

// kubeconfig returns a kubeconfig without a server behind it: nothing is dialled before the manager
// starts.
func kubeconfig(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	content := `{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1"}}],
		"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{}}]}`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLogger_JSON_KeepsItsKeys(t *testing.T) {
	var out bytes.Buffer
	settings := &settings{logLevel: "info", logFormat: "json"}
	logger, err := settings.logger(&out)
	if err != nil {
		t.Fatal(err)
	}
	logger.WithName("seinode").Error(errors.New("broken"), "reconciling", "namespace", "sei", "name", "rpc-0")
	logger.V(1).Info("a detail")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v in %q", err, out.String())
	}
	if _, err := time.Parse(time.RFC3339Nano, line["ts"].(string)); err != nil {
		t.Error(err)
	}
	delete(line, "ts")
	want := map[string]any{"level": "error", "logger": "seinode", "msg": "reconciling", "error": "broken", "namespace": "sei", "name": "rpc-0"}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestLogger_Debug_ShowsDetails(t *testing.T) {
	var out bytes.Buffer
	settings := &settings{logLevel: "debug", logFormat: "text"}
	logger, err := settings.logger(&out)
	if err != nil {
		t.Fatal(err)
	}
	logger.V(1).Info("a detail")
	if !strings.Contains(out.String(), "a detail") {
		t.Errorf("log is %q", out.String())
	}
}

func TestDocs_ListTheFlags(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "reference", "manager-flags.md")
	want := page(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(have)); diff != "" {
		t.Errorf("docs/reference/manager-flags.md is out of date; run: go test ./cmd/manager -run Docs -update\n(-want +got):\n%s", diff)
	}
}

func page(t *testing.T) string {
	t.Helper()
	var help, b strings.Builder
	if _, err := parse([]string{"--help"}, env(), &help); !errors.Is(err, pflag.ErrHelp) {
		t.Fatal(err)
	}
	_, flags, _ := strings.Cut(help.String(), "\n")
	fmt.Fprintf(&b, `# Flags of the manager

<!-- Made by: go test ./cmd/manager -run Docs -update. Change cmd/manager/flags.go instead. -->

The operator starts without any. What it should know about the cluster is in the [platform configuration](platform-config.md),
which `+"`--config`"+` names. The manifests in `+"`config/default`"+` set `+"`--config`"+` and the environment variable `+"`POD_NAMESPACE`"+`.

`+"```"+`
%s`+"```"+`

A mistake in a flag or in the configuration ends the process at once, with a message that names it.
Logs are one JSON object per line with the keys `+"`ts`, `level`, `logger`, `msg`"+` and, for errors, `+"`error`"+`; lines about an object carry `+"`namespace` and `name`"+`,
lines about an [event](events.md) its reason under `+"`event`"+`. There is one line per transition; `+"`--log-level=debug`"+` adds every call of a task.

The standard `+"`OTEL_`"+` variables make the operator export [traces](../how-to/traces.md).
`, flags)
	return b.String()
}
