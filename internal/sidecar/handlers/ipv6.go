package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

// onAllFamilies are the addresses of a node in a pod that has IPv6 alone. The profile's
// 0.0.0.0 is IPv4 and nothing else; [::] would be both, but does not work where the kernel
// has no IPv6, and changing it everywhere would restart every node.
var onAllFamilies = map[string]string{
	"network.rpc.listen_address": "tcp://[::]:26657",
	"network.p2p.listen_address": "tcp://[::]:26656",
	"api.rest.address":           "tcp://[::]:1317",
	"api.grpc.address":           "[::]:9090",
	"api.grpc_web.address":       "[::]:9091",
}

// onIPv6 lets config-apply write addresses that can be reached in a pod with IPv6 alone.
// What the caller sets stays.
func onIPv6(all []engine.Handler) []engine.Handler {
	for i, h := range all {
		if h.Type != api.ConfigApply {
			continue
		}
		all[i].Run = func(ctx context.Context, task engine.Task, params json.RawMessage) (any, error) {
			var p wire.ConfigApply
			if err := json.Unmarshal(params, &p); err != nil || p.Incremental {
				return h.Run(ctx, task, params)
			}
			p.Overrides = withIPv6(p.Mode, p.Overrides)
			changed, err := json.Marshal(p)
			if err != nil {
				return nil, fmt.Errorf("encoding the parameters: %w", err)
			}
			return h.Run(ctx, task, changed)
		}
	}
	return all
}

func withIPv6(mode string, overrides map[string]string) map[string]string {
	merged := maps.Clone(onAllFamilies)
	if mode == string(seid.ModeSeed) {
		delete(merged, "network.rpc.listen_address") // a seed answers peers alone
	}
	maps.Copy(merged, overrides)
	return merged
}
