package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/conformance"
	"github.com/sei-operator/sei-operator/internal/sidecar/crashtest"
)

// contractTypes are the task types that callers of the v0 API rely on.
var contractTypes = []string{
	"snapshot-restore", "snapshot-upload", "snapshot-upload-once", "configure-genesis", "config-apply", "config-patch", "config-validate", "config-reload",
	"configure-state-sync", "mark-ready", "mark-not-ready", "stop-seid", "restart-seid", "reset-data", "await-condition",
	"generate-identity", "generate-gentx", "upload-genesis-artifacts", "assemble-and-upload-genesis", "set-genesis-peers",
	"gov-vote", "gov-software-upgrade", "gov-param-change", "result-export", "set-result-export", "export-gentx", "assemble-genesis",
}

func TestConformance_RealBinary(t *testing.T) {
	s := crashtest.Start(t, t.TempDir())
	conformance.Run(t, conformance.Target{
		URL: s.URL(), TaskTypes: contractTypes,
		// An empty home has no configuration, and there is no node to wait for.
		Failing: conformance.Task{Type: "config-validate"},
		Endless: conformance.Task{Type: "await-condition", Params: `{"condition":"height","targetHeight":1000000000}`},
	})
}

func TestConformance_RealBinaryBehindAProxy(t *testing.T) {
	s := crashtest.Start(t, t.TempDir(), "SEI_SIDECAR_AUTHN_MODE=trusted-header",
		"SEI_NODE_NAMESPACE=chain", "SEI_NODE_NAME=node-0", "SEI_POD_UID=7d2c")
	conformance.Run(t, conformance.Target{
		URL: s.URL(), TaskTypes: contractTypes, Header: http.Header{"X-Remote-User": {"somebody"}},
		Failing:   conformance.Task{Type: "config-validate", Params: `{}`},
		Endless:   conformance.Task{Type: "await-condition", Params: `{"condition":"height","targetHeight":1000000000}`},
		Protected: true, Identified: true,
	})
}

// The token of one node is not accepted by another node, and neither is a token that all older
// sidecars accept.
func TestConformance_RealBinaryInAPod(t *testing.T) {
	s, key := startInPod(t, "SEI_NODE_UID=u-0")
	header := func(subject, audience string, valid time.Duration) http.Header {
		return http.Header{"Authorization": {"Bearer " + sign(t, key, subject, audience, valid)}}
	}
	own := "sei-sidecar/chain/node-0/u-0"
	conformance.Run(t, conformance.Target{
		URL: s.URL(), TaskTypes: contractTypes, Header: header(operator, own, time.Hour),
		Failing:   conformance.Task{Type: "config-validate", Params: `{}`},
		Endless:   conformance.Task{Type: "await-condition", Params: `{"condition":"height","targetHeight":1000000000}`},
		Protected: true, Identified: true,
		Foreign: map[string]http.Header{
			"a node of another name":         header(operator, "sei-sidecar/chain/node-1/u-1", time.Hour),
			"a node of another namespace":    header(operator, "sei-sidecar/other/node-0/u-0", time.Hour),
			"a node of the same name before": header(operator, "sei-sidecar/chain/node-0/u-9", time.Hour),
			"all older sidecars":             header(operator, "sei-sidecar", time.Hour),
			"the API server":                 header(operator, "https://kubernetes.default.svc", time.Hour),
			"somebody in the past":           header(operator, own, -time.Minute),
		},
	})
}
