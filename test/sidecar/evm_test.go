package sidecar_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The EVM server of seid signs with the test keyring of ~/.sei, which in a pod is the node's home. A validator that has
// the account of its operator there does not sign with it for whoever asks.
func TestEVMServer_OfAValidatorWithItsAccountOnTheVolume_HasNoAccount(t *testing.T) {
	v := newNode(t, "evm-1", "v0", "")
	port := freePort(t)
	ceremony([]*node{v}, map[string]string{
		"evm.http_enabled": "true", "evm.http_port": strconv.Itoa(port),
		// seid starts its EVM servers with one of these.
		"api.grpc.enable": "true", "api.grpc.address": fmt.Sprintf("127.0.0.1:%d", freePort(t)),
	})
	if records, err := filepath.Glob(filepath.Join(v.home, "keyring-test", "*.info")); err != nil || len(records) == 0 {
		t.Fatalf("the volume has no account, so nothing is proved: %v", err)
	}
	if err := os.Symlink(".", filepath.Join(v.home, ".sei")); err != nil { // HOME is the home itself here
		t.Fatal(err)
	}
	v.start()
	v.awaitHeight(2)
	if got := accounts(t, port); !strings.Contains(got, `"result":null`) && !strings.Contains(got, `"result":[]`) {
		t.Errorf("eth_accounts answers %s", got)
	}
}

// accounts asks an EVM server for the accounts that it signs with, once it is up.
func accounts(t *testing.T, port int) string {
	t.Helper()
	const question = `{"jsonrpc":"2.0","id":1,"method":"eth_accounts","params":[]}`
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d", port), strings.NewReader(question))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			return string(body)
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("the EVM server never answered: %v", err)
		}
	}
}
