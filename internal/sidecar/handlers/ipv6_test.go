package handlers

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

func TestOnIPv6_ConfigApply_ListensOnAllFamiliesUnlessToldOtherwise(t *testing.T) {
	var got wire.ConfigApply
	record := engine.Handler{Type: api.ConfigApply, Run: func(_ context.Context, _ engine.Task, params json.RawMessage) (any, error) {
		got = wire.ConfigApply{}
		return nil, json.Unmarshal(params, &got)
	}}
	handlers := onIPv6([]engine.Handler{{Type: api.ConfigPatch}, record})
	for name, tc := range map[string]struct {
		params string
		want   map[string]string
	}{
		"full": {`{"mode":"full"}`, map[string]string{
			"network.rpc.listen_address": "tcp://[::]:26657", "network.p2p.listen_address": "tcp://[::]:26656",
			"api.rest.address": "tcp://[::]:1317", "api.grpc.address": "[::]:9090", "api.grpc_web.address": "[::]:9091",
		}},
		"seed, own port": {`{"mode":"seed","overrides":{"network.p2p.listen_address":"tcp://[::]:1"}}`, map[string]string{
			"network.p2p.listen_address": "tcp://[::]:1",
			"api.rest.address":           "tcp://[::]:1317", "api.grpc.address": "[::]:9090", "api.grpc_web.address": "[::]:9091",
		}},
		"incremental": {`{"incremental":true,"overrides":{"mempool.size":"5"}}`, map[string]string{"mempool.size": "5"}},
	} {
		if _, err := handlers[1].Run(t.Context(), engine.Task{}, json.RawMessage(tc.params)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, got.Overrides); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
