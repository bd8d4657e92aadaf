package handlers_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

func put(t *testing.T, file, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestAll_AnRPCWithTLS_IsAskedWithTLS(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/lag_status" {
			_, _ = fmt.Fprint(w, `{"current_height":"10","max_peer_height":"10","lag":"0"}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"node_info":{"id":"n","network":"test-1"},"sync_info":{"latest_block_height":"10","earliest_block_height":"1",
		  "latest_block_time":%q,"max_peer_block_height":"10","catching_up":false}}`, time.Now().Format(time.RFC3339Nano))
	}))
	defer srv.Close()
	home := t.TempDir()
	config := "[rpc]\nladdr = \"tcp://" + strings.TrimPrefix(srv.URL, "https://") + "\"\ntls-cert-file = \"rpc.pem\"\ntls-key-file = \"rpc.key\"\n"
	put(t, filepath.Join(home, "config/config.toml"), config)
	put(t, filepath.Join(home, "config/rpc.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})))
	all, _ := handlers.All(handlers.Config{Home: home, ChainID: "test-1"})
	if _, err := handlertest.New(all).Run(t, api.AwaitCondition, `{"condition":"height","targetHeight":10,"timeout":"10s"}`); err != nil {
		t.Errorf("the node's height is not seen: %v", err)
	}
}

func TestAll_SettingUpStateSync_SweepsTheChunksOfAKilledOne(t *testing.T) {
	home := t.TempDir()
	chunk := filepath.Join(home, "tmp/tm-statesync4711/0")
	put(t, chunk, "chunk")
	put(t, filepath.Join(home, "tmp/other/0"), "kept")
	all, _ := handlers.All(handlers.Config{Home: home, ChainID: "test-1", RPCEndpoint: "http://127.0.0.1:1"})
	if _, err := handlertest.New(all).Run(t, api.ConfigureStateSync, `{}`); err == nil {
		t.Error("an empty home was configured")
	}
	if _, err := os.Stat(chunk); err == nil {
		t.Error("the chunk is still there")
	}
	if _, err := os.Stat(filepath.Join(home, "tmp/other/0")); err != nil {
		t.Error(err)
	}
}
