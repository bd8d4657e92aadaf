package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/internal/certificates"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// A sidecar with a certificate serves TLS with it, picks up a new certificate while it runs, and
// rejects even the right token over plain HTTP.
func TestServe_TLS(t *testing.T) {
	dir, name := t.TempDir(), api.ServerName("chain", "node-0", "u-0")
	issue := func() *certificates.Authority {
		authority := &certificates.Authority{Secrets: fake.NewClientBuilder().Build(), Namespace: "operator", Clock: clock.RealClock{}}
		issued, err := authority.Issue(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for file, content := range map[string][]byte{api.FileCertificate: issued.Certificate, api.FileKey: issued.Key} {
			if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return authority
	}
	first := issue()
	s, key := startInPod(t, "SEI_NODE_UID=u-0", "SEI_SIDECAR_TLS_DIR="+dir)
	call := func(trusted *certificates.Authority, serverName string) error {
		pool := client.NewPool(client.Options{Tokens: token(sign(t, key, operator, "sei-sidecar/chain/node-0/u-0", time.Hour)), Roots: trusted.Roots})
		defer pool.CloseIdle()
		address := strings.TrimPrefix(s.URL(), "http://")
		_, err := pool.Sidecar(client.Target{Address: address, Node: "chain/node-0", PodUID: "7d2c", ServerName: serverName}).Version(t.Context())
		return err
	}
	if err := call(first, name); err != nil {
		t.Fatalf("over TLS: %v", err)
	}
	if err := call(first, ""); !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("in the clear: %v", err)
	}
	second := issue()
	served := func(context.Context) (bool, error) { return call(second, name) == nil, nil }
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, served); err != nil {
		t.Fatalf("the next certificate is not served: %v", call(second, name))
	}
	if err := call(first, name); !errors.Is(err, client.ErrCertificate) {
		t.Errorf("the former authority is good for the next certificate: %v", err)
	}
}
