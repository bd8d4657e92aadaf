package sidecar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// While seid runs nobody can try a configuration, so the gate does before the next start.
func TestRestart_ConfigurationThatSeidRefuses_ComesUpOnTheLastGoodOne(t *testing.T) {
	n := newNode(t, "lastgood-1", "n", "")
	ceremony([]*node{n}, nil)
	n.run(podSpec{restart: true})
	named := func(hash, size string) wire.ConfigApply {
		p := applied(hash, size,
			"network.rpc.listen_address", "tcp://"+n.witness(), "network.p2p.listen_address", fmt.Sprintf("tcp://127.0.0.1:%d", n.p2pPort),
			"api.grpc.enable", "false", "metrics.enabled", "false")
		p.Mode = "validator"
		return p
	}
	do[any](n, api.ConfigApply, named("one", "1111"))
	if got := do[wire.ConfigTrial](n, api.ConfigValidate, nil); !got.Tried {
		t.Fatalf("the configuration was not tried: %s", got.Skipped)
	}
	do[any](n, api.MarkReady, nil)
	n.awaitHeight(2)

	bad := named("two", "2222")
	bad.Overrides["app.toml:admin_server.admin_enabled"] = "true"
	bad.Overrides["app.toml:admin_server.admin_address"] = "0.0.0.0:9095"
	do[any](n, api.ConfigApply, bad)
	if got := do[wire.ConfigTrial](n, api.ConfigValidate, nil); got.Tried || got.Skipped != "not tried: seid is running" {
		t.Errorf("config-validate beside a running seid: %+v", got)
	}
	n.Run(api.RestartSeid, wire.RestartSeid{ConfigHash: "two"})
	n.awaitHeight(n.height() + 2)
	got := n.state()
	if got.ConfigHash != "one" || got.Refused == nil || got.Refused.ConfigHash != "two" || !strings.Contains(got.Refused.Error, "must be bound to loopback") {
		t.Errorf("seid runs on %q, refused is %+v", got.ConfigHash, got.Refused)
	}
}
