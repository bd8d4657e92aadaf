package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/sei-operator/sei-operator/test/security/leaks"
)

// The canaries are what must not leave the cluster.
var (
	canaryKey        = base64.StdEncoding.EncodeToString([]byte("canary-seed-0123456789-abcdefghijcanary-public-9876543210-abcdef"))
	canaryKeyFile    = `{"address":"AB","priv_key":{"type":"tendermint/PrivKeyEd25519","value":"` + canaryKey + `"}}`
	canaryPassphrase = "canary-passphrase-correct-horse"
	canaryToken      = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6c2VpIn0." + strings.Repeat("canarysig", 8)
	canaryMnemonic   = strings.TrimSpace(strings.Repeat("canary ocean vivid ", 8))
)

// reportedCluster has secrets wherever somebody may have left them.
func reportedCluster(t *testing.T) *plugin {
	t.Helper()
	objects, logs := loggedNode()
	pod := objects[1].(*corev1.Pod)
	pod.Spec.Containers = []corev1.Container{{Name: "seid", Env: []corev1.EnvVar{{Name: "KEYRING_PASSPHRASE", Value: canaryPassphrase}, {Name: "HOME", Value: "/home"}}}}
	pod.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": canaryPassphrase}
	pod.Status.ContainerStatuses[1].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1}
	logs.texts["rpc-0-0 seid"] += "2026-11-15T11:59:05Z read " + canaryKeyFile + "\n2026-11-15T11:59:06Z --passphrase=" + canaryPassphrase + "\n" +
		"2026-11-15T11:59:06Z It is the only way to recover your account\n2026-11-15T11:59:06Z " + canaryMnemonic + "\n"
	logs.texts["rpc-0-0 sidecar"] += `2026-11-15T11:59:07Z {"msg":"sent","header":"Bearer ` + canaryToken + `"}` + "\n"
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "val-0-signing", Namespace: testNamespace},
		Data:       map[string][]byte{"priv_validator_key.json": []byte(canaryKeyFile), "passphrase": []byte(canaryPassphrase)},
	}
	event := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Name: "rpc-0.1", Namespace: testNamespace}, Note: "reading Secret: password=" + canaryPassphrase}
	s := readyCluster()
	s.node.Name = "rpc-1" // rpc-0 is there
	s.config += "buckets: {snapshot: \"s3://user:" + canaryPassphrase + "@bucket\"}\n"
	p := newPlugin(t, slices.Concat(objects, s.objects(t), []client.Object{secret, event})...)
	p.cluster.Logs = logs
	return p
}

// unpack returns the files of an archive, by path.
func unpack(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for reader := tar.NewReader(zipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(content)
	}
}

func TestReport_CanariesInSecretsLogsAndObjects_AreNotInTheArchive(t *testing.T) {
	files := unpack(t, []byte(reportedCluster(t).mustRun(t, "report", "--file=-")))
	var finder leaks.Finder
	finder.Add(leaks.Of("signing key", "priv_validator_key.json", []byte(canaryKeyFile))...)
	finder.Add(leaks.Of("passphrase", "passphrase", []byte(canaryPassphrase))...)
	finder.Add(leaks.Of("token", "token", []byte(canaryToken))...)
	finder.Add(leaks.Of("mnemonic", "mnemonic", []byte(canaryMnemonic))...)
	for path, content := range files {
		for _, found := range finder.Find(path, []byte(content)) {
			t.Errorf("%s holds %s (%s) at %d", path, found.Origin, found.Encoding, found.Offset)
		}
	}
	// What surrounds the canaries is there: they were looked for in the right place.
	for path, part := range map[string]string{
		"logs/sei/rpc-0-0/seid.log":          "11:59:05.000000Z read",
		"logs/sei/rpc-0-0/seid.previous.log": "committed state",
		"logs/sei/rpc-0-0/sidecar.log":       "Bearer [REDACTED]",
		"objects/sei/pod/rpc-0-0.yaml":       "KEYRING_PASSPHRASE",
		"objects/sei/event/rpc-0.1.yaml":     "reading Secret",
		"objects/sei/secrets.yaml":           "val-0-signing",
		"platform-config.yaml":               "@bucket",
	} {
		if content := files["sei-report-sei-20261115-120000/"+path]; !strings.Contains(content, part) {
			t.Errorf("%s has no %q:\n%s", path, part, content)
		}
	}
}

func TestReport_TheArchive_HoldsObjectsEventsLogsAndVersions(t *testing.T) {
	p := reportedCluster(t)
	path := filepath.Join(t.TempDir(), "report.tar.gz")
	printed := p.mustRun(t, "report", "--file", path)
	archive, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	files := unpack(t, archive)
	for _, name := range sortedKeys(files) {
		b.WriteString(name + "\n")
	}
	golden(t, "report/files.txt", b.String())
	if want := fmt.Sprintf("%s: %d files\n", path, len(files)); printed != want {
		t.Errorf("printed %s, want %s", printed, want)
	}
	golden(t, "report/versions.yaml", files["sei-report-sei-20261115-120000/versions.yaml"])
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
	if _, err := p.run(t, "report", "--file", path); err == nil {
		t.Error("a report that was there was replaced")
	}
}

func TestReport_WhatTheUserMayNotSee_IsNamed(t *testing.T) {
	p := reportedCluster(t)
	p.cluster.Client = interceptor.NewClient(p.cluster.Client, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if list.GetObjectKind().GroupVersionKind().Kind == "SecretList" {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("no"))
			}
			return c.List(ctx, list, opts...)
		},
	})
	path := filepath.Join(t.TempDir(), "report.tar.gz")
	if printed := p.mustRun(t, "report", "--file", path); !strings.HasSuffix(printed, " files; 2 could not be collected, as problems.txt in it says\n") {
		t.Errorf("printed %s", printed)
	}
	archive, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := unpack(t, archive)
	if problems := files["sei-report-sei-20261115-120000/problems.txt"]; !strings.Contains(problems, "sei Secret: secrets is forbidden") {
		t.Errorf("problems: %s", problems)
	}

	path = filepath.Join(t.TempDir(), "another.tar.gz")
	var written reportWritten
	printed := p.mustRun(t, "report", "--file", path, "-o", "json")
	if err := json.Unmarshal([]byte(printed), &written); err != nil || written.File != path || written.Files != len(files) || len(written.Problems) != 2 {
		t.Errorf("printed %s, %v, want file %s, %d files and 2 problems", printed, err, path, len(files))
	}
	if _, err := p.run(t, "report", "--file=-", "-o", "json"); err == nil || !strings.Contains(err.Error(), "exclude each other") {
		t.Errorf("two things on standard output: got %v, want a refusal", err)
	}
}

// A report must not ask for the content of Secrets: what is not read cannot be leaked.
func TestReport_Secrets_AreAskedForMetadataOnly(t *testing.T) {
	p := reportedCluster(t)
	p.cluster.Client = interceptor.NewClient(p.cluster.Client, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, isSecret := o.(*corev1.Secret); isSecret {
				t.Errorf("Secret %s was read", key)
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			_, metadataOnly := list.(*metav1.PartialObjectMetadataList)
			_, typed := list.(*corev1.SecretList)
			if typed || list.GetObjectKind().GroupVersionKind().Kind == "SecretList" && !metadataOnly {
				t.Error("Secrets were listed with their content")
			}
			return c.List(ctx, list, opts...)
		},
	})
	p.mustRun(t, "report", "--file=-")
}

func sortedKeys(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }
