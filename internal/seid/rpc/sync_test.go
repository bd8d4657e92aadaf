package rpc_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

func TestSync_SaysWhyANodeIsNotInSync(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const connected = `{"peer_connections":[{"node_id":"a","state":"ready,connected"}]}`
	for name, c := range map[string]struct {
		height, lag int64
		age         time.Duration
		noLag       bool
		peers       string
		power       int64
		signatures  string
		want        string
	}{
		"keeps up":                                   {height: 10, peers: connected},
		"makes blocks alone":                         {height: 10, age: time.Second},
		"behind by less than the node minds":         {height: 10, lag: 200, peers: connected},
		"a halted chain whose others are there":      {height: 10, age: time.Hour, peers: connected},
		"no block at all":                            {want: "no block yet"},
		"too far behind":                             {height: 10, lag: 400, peers: connected, want: "height is 10 of 410"},
		"too far behind, on a node without the call": {height: 10, lag: 400, noLag: true, peers: connected, want: "height is 10 of 410"},
		"back after a while and alone": {
			height: 10, age: time.Hour, want: "no peer is connected and the latest block, 10, is 1h0m0s old",
		},
		"the only validator, waiting for transactions": {height: 10, age: time.Hour, power: 5, signatures: `{"block_id_flag":2}`},
		"one of two validators, cut off": {
			height: 10, age: time.Hour, power: 5, signatures: `{"block_id_flag":2},{"block_id_flag":1}`, want: "no peer is connected",
		},
		"cut off from the only validator": {
			height: 10, age: time.Hour, signatures: `{"block_id_flag":2}`, want: "no peer is connected",
		},
		"one who is only being dialed": {
			height: 10, age: time.Hour, peers: `{"peer_connections":[{"node_id":"a","state":"dialing"}]}`, want: "no peer is connected",
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/status":
					_, _ = fmt.Fprintf(w, `{"node_info":{"id":"n"},"sync_info":{"latest_block_height":"%d","earliest_block_height":"1",
					  "latest_block_time":%q,"max_peer_block_height":"%d"},"validator_info":{"voting_power":"%d"}}`,
						c.height, now.Add(-c.age).Format(time.RFC3339), c.height+c.lag, c.power)
				case r.URL.Path == "/commit":
					_, _ = fmt.Fprintf(w, `{"signed_header":{"header":{"height":"%d"},"commit":{"block_id":{"hash":"AB"},"signatures":[%s]}}}`,
						c.height, c.signatures)
				case r.URL.Path == "/lag_status" && c.noLag:
					_, _ = io.WriteString(w, `{"code":-32601,"message":"Method not found"}`)
				case r.URL.Path == "/lag_status":
					if c.lag > 300 {
						w.WriteHeader(http.StatusExpectationFailed)
					}
					_, _ = fmt.Fprintf(w, `{"current_height":"%d","max_peer_height":"%d","lag":"%d"}`, c.height, c.height+c.lag, c.lag)
				default:
					_, _ = io.WriteString(w, cmp.Or(c.peers, `{}`))
				}
			}))
			t.Cleanup(srv.Close)
			got, err := rpc.New(srv.URL).Sync(t.Context(), now)
			if err != nil {
				t.Fatal(err)
			}
			if got.InSync() != (c.want == "") || !strings.HasPrefix(got.Why, c.want) || got.Height != c.height {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

func TestSync_ANodeThatDoesNotAnswer_IsAnError(t *testing.T) {
	if got, err := rpc.New("127.0.0.1:1").Sync(t.Context(), time.Now()); err == nil {
		t.Errorf("%+v, want an error", got)
	}
}
