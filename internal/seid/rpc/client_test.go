package rpc_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

// The files in testdata are answers of a real node (one validator, chain id
// rec-1), untouched.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

type request struct {
	Method, Path, Query string
	Body                map[string]any
}

// node answers every request with one recorded file and keeps the last request.
func node(t *testing.T, status int, file string) (*rpc.Client, *request) {
	t.Helper()
	body := recorded(t, file)
	last := &request{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*last = request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery}
		if r.Method == http.MethodPost {
			raw, _ := io.ReadAll(r.Body)
			if err := json.Unmarshal(raw, &last.Body); err != nil {
				t.Errorf("request body is not JSON: %v", err)
			}
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(srv.Close)
	return rpc.New(srv.URL), last
}

func TestStatus_FlatAndEnveloped_GiveTheSameNode(t *testing.T) {
	for _, file := range []string{"status.json", "status_envelope.json"} {
		client, _ := node(t, 200, file)
		st, err := client.Status(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if st.NodeInfo.ID != "24ede832121020dad05b669d778e7447ad440ef6" || st.NodeInfo.Network != "rec-1" {
			t.Errorf("%s: node info is %+v", file, st.NodeInfo)
		}
		if st.SyncInfo.LatestBlockHeight < 38 || st.SyncInfo.EarliestBlockHeight != 1 || st.SyncInfo.CatchingUp {
			t.Errorf("%s: sync info is %+v", file, st.SyncInfo)
		}
		if st.ValidatorInfo.VotingPower != 1000 || st.ValidatorInfo.Address != "CBC4E082232130B61D8DC8736C34355885F8ABB9" {
			t.Errorf("%s: validator info is %+v", file, st.ValidatorInfo)
		}
	}
}

func TestBlock_HasHashHeaderAndTransactions(t *testing.T) {
	client, last := node(t, 200, "block.json")
	block, err := client.Block(t.Context(), 36)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&request{Method: "GET", Path: "/block", Query: "height=36"}, last); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if block.Hash != "2600B3D603AD2F09C68C6AF90104712E6ED8B7B3F907AC9F781AA4223C815066" {
		t.Errorf("hash is %s", block.Hash)
	}
	if block.Header.Height != 36 || block.Header.ChainID != "rec-1" || len(block.Header.AppHash) != 64 || len(block.Header.LastResultsHash) != 64 {
		t.Errorf("header is %+v", block.Header)
	}
	hash := "e57eb221d6fbe98f7129bab3eb200c72c18625bfcfacf3eb9794a691fa17182a"
	if i := block.TxIndex(hash); i != 0 {
		t.Errorf("the transaction is at %d, want 0", i)
	}
	if i := block.TxIndex(strings.Repeat("ab", 32)); i != -1 {
		t.Errorf("a foreign transaction is at %d, want -1", i)
	}
}

func TestBlock_HeightZero_AsksForTheLatest(t *testing.T) {
	client, last := node(t, 200, "block.json")
	if _, err := client.Block(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if last.Query != "" {
		t.Errorf("query is %q, want none", last.Query)
	}
}

func TestBlockResults_KeepTheRawAnswer(t *testing.T) {
	client, _ := node(t, 200, "block_results.json")
	res, err := client.BlockResults(t.Context(), 36)
	if err != nil {
		t.Fatal(err)
	}
	if res.Height != 36 || len(res.Txs) != 1 {
		t.Fatalf("height %d with %d transactions", res.Height, len(res.Txs))
	}
	tx := res.Txs[0]
	if tx.Code != 0 || tx.GasWanted != 200000 || tx.GasUsed != 52451 || len(tx.Data) == 0 || len(tx.Events) == 0 {
		t.Errorf("outcome is %+v", tx)
	}
	if diff := cmp.Diff(string(recorded(t, "block_results.json")), string(res.Raw)); diff != "" {
		t.Errorf("raw answer (-want +got):\n%s", diff)
	}
}

func TestNetInfo_CountsConnectionsNotTheCounter(t *testing.T) {
	tests := map[string]int{"net_info.json": 0, "net_info_peers.json": 1}
	for file, want := range tests {
		client, _ := node(t, 200, file)
		info, err := client.NetInfo(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if got := info.Connected(); got != want {
			t.Errorf("%s: %d connected, want %d", file, got, want)
		}
	}
	if (rpc.PeerConnection{State: "ready"}).Connected() {
		t.Error("a peer that is only ready counts as connected")
	}
}

func TestABCIInfo_TellsHeightAndHashOfTheState(t *testing.T) {
	client, _ := node(t, 200, "abci_info.json")
	info, err := client.ABCIInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.Height != 38 || len(info.AppHash) != 32 {
		t.Errorf("got %+v, want Height 38 and 32 AppHash", info)
	}
}

func TestLagStatus_417IsAnAnswer(t *testing.T) {
	client, _ := node(t, 200, "lag_status.json")
	lag, err := client.LagStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&rpc.LagStatus{CurrentHeight: 38}, lag); diff != "" {
		t.Errorf("in sync (-want +got):\n%s", diff)
	}

	client, _ = node(t, http.StatusExpectationFailed, "lag_status_behind.json")
	lag, err = client.LagStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&rpc.LagStatus{MaxPeerHeight: 79, Lag: 79, Behind: true}, lag); diff != "" {
		t.Errorf("behind (-want +got):\n%s", diff)
	}
}

func TestBroadcastTxSync_SendsBytesAndReturnsTheVerdict(t *testing.T) {
	client, last := node(t, 200, "broadcast_tx_sync.json")
	res, err := client.BroadcastTxSync(t.Context(), []byte{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if res.Code != 0 || res.Hash != "8FE9B063B55D06C93F7973A3FD9544EE04E213940AE4F99FC7055C1B0DDA7422" {
		t.Errorf("result is %+v", res)
	}
	if last.Body["method"] != "broadcast_tx_sync" || last.Body["params"].(map[string]any)["tx"] != "AQID" {
		t.Errorf("request is %v", last.Body)
	}

	client, _ = node(t, 200, "broadcast_rejected.json")
	res, err = client.BroadcastTxSync(t.Context(), []byte("deadbeef"))
	if err != nil {
		t.Fatal(err)
	}
	if res.Code != 2 || res.Codespace != "sdk" || !strings.Contains(res.Log, "tx parse error") {
		t.Errorf("rejection is %+v", res)
	}
}

func TestABCIQuery_ReturnsTheApplicationsAnswer(t *testing.T) {
	client, last := node(t, 200, "abci_query.json")
	res, err := client.ABCIQuery(t.Context(), "/cosmos.auth.v1beta1.Query/Account", []byte{0x0a, 0x01})
	if err != nil {
		t.Fatal(err)
	}
	if res.Code != 0 || res.Height != 61 || len(res.Value) == 0 {
		t.Errorf("result is %+v", res)
	}
	if params := last.Body["params"].(map[string]any); params["data"] != "0a01" || params["path"] != "/cosmos.auth.v1beta1.Query/Account" {
		t.Errorf("params are %v", params)
	}

	client, _ = node(t, 200, "abci_query_error.json")
	res, err = client.ABCIQuery(t.Context(), "/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Code != 18 || res.Codespace != "sdk" {
		t.Errorf("refusal is %+v", res)
	}
}

func TestTx_FlatAndEnveloped_GiveTheSameTransaction(t *testing.T) {
	const hash = "E57EB221D6FBE98F7129BAB3EB200C72C18625BFCFACF3EB9794A691FA17182A"
	for _, file := range []string{"tx.json", "tx_envelope.json"} {
		client, last := node(t, 200, file)
		tx, err := client.Tx(t.Context(), "0x"+strings.ToLower(hash))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if tx.Hash != hash || tx.Height != 36 || tx.Outcome.Code != 0 || rpc.TxHash(tx.Bytes) != hash {
			t.Errorf("%s: %+v, want Hash %v, Height 36, Code 0 and TxHash %v", file, tx, hash, hash)
		}
		// The real node refuses a hash with a 0x in front.
		if last.Query != "hash="+hash {
			t.Errorf("query is %q", last.Query)
		}
	}
}

func TestErrors_OfTheRealNode_AreTyped(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	tests := map[string]struct {
		file string
		call func(*rpc.Client) error
		want error
	}{
		"flat":         {"block_error.json", func(c *rpc.Client) error { _, err := c.Block(t.Context(), 999999); return err }, rpc.ErrHeightTooHigh},
		"enveloped":    {"block_error_envelope.json", func(c *rpc.Client) error { _, err := c.Block(t.Context(), 999999); return err }, rpc.ErrHeightTooHigh},
		"no such tx":   {"tx_not_found.json", func(c *rpc.Client) error { _, err := c.Tx(t.Context(), hash); return err }, rpc.ErrTxNotFound},
		"no index":     {"tx_index_off.json", func(c *rpc.Client) error { _, err := c.Tx(t.Context(), hash); return err }, rpc.ErrTxIndexOff},
		"seen already": {"broadcast_in_cache.json", func(c *rpc.Client) error { _, err := c.BroadcastTxSync(t.Context(), nil); return err }, rpc.ErrTxInCache},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, _ := node(t, 200, tc.file)
			err := tc.call(client)
			if !errors.Is(err, tc.want) {
				t.Fatalf("got %v, want %v", err, tc.want)
			}
			rpcErr, ok := errors.AsType[*rpc.Error](err)
			if !ok || rpcErr.Code != -32603 || rpcErr.HTTPStatus != 200 {
				t.Errorf("got %+v, want an Error with code -32603 and HTTP status 200", rpcErr)
			}
			for _, other := range []error{rpc.ErrTxIndexOff, rpc.ErrTxNotFound, rpc.ErrTxInCache, rpc.ErrHeightTooHigh, rpc.ErrUnreachable} {
				if !errors.Is(other, tc.want) && errors.Is(err, other) {
					t.Errorf("is also %v", other)
				}
			}
		})
	}
}

func TestErrors_OfSomethingElse_ShowItsAnswer(t *testing.T) {
	tests := map[string]struct {
		status int
		body   string
		want   string
	}{
		"proxy page":      {502, "<html>bad gateway</html>", "HTTP status 502: not an RPC answer: <html>bad gateway"},
		"JSON error page": {503, `{"status":"down"}`, "HTTP status 503: not an RPC answer"},
		"empty":           {200, "", "not an RPC answer"},
		"no result":       {200, `{"jsonrpc":"2.0","id":1}`, "neither a result nor an error"},
		"other JSON":      {200, `{"hello":"world"}`, "names no node id"},
		"array":           {200, `[]`, "not an RPC answer"},
		"long page":       {500, strings.Repeat("x", 5000), strings.Repeat("x", 200) + "..."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			defer srv.Close()
			_, err := rpc.New(srv.URL).Status(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestTx_HashThatIsNone_IsRefusedWithoutACall(t *testing.T) {
	client, last := node(t, 200, "tx.json")
	for _, hash := range []string{"", "zz", strings.Repeat("a", 63), strings.Repeat("ab", 31)} {
		if _, err := client.Tx(t.Context(), hash); err == nil {
			t.Errorf("%q was accepted", hash)
		}
	}
	if last.Method != "" {
		t.Error("the node was called")
	}
}

func TestCalls_NobodyListens_IsUnreachable(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	_, err := rpc.New(srv.URL).Status(t.Context())
	if !errors.Is(err, rpc.ErrUnreachable) {
		t.Errorf("got %v, want %v", err, rpc.ErrUnreachable)
	}
}

func TestCalls_HungNode_EndsAfterTheTimeout(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer srv.Close()
	defer close(release)
	_, err := rpc.New(srv.URL, rpc.WithTimeout(20*time.Millisecond)).Status(t.Context())
	if !errors.Is(err, rpc.ErrUnreachable) {
		t.Errorf("got %v, want %v", err, rpc.ErrUnreachable)
	}
}

func TestNew_AddsTheScheme(t *testing.T) {
	tests := map[string]string{
		"node:26657":            "http://node:26657",
		"tcp://127.0.0.1:26657": "http://127.0.0.1:26657",
		"rpc.example:443":       "https://rpc.example:443",
		"https://rpc.example/":  "https://rpc.example",
	}
	for in, want := range tests {
		if got := rpc.New(in).URL(); got != want {
			t.Errorf("New(%q) calls %q, want %q", in, got, want)
		}
	}
}
