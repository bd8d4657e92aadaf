package security

import (
	"net/http"
	"regexp"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// Port is one that a process of a node's pod listens on at the pod's address.
type Port struct {
	Number int32
	Name   string
	// Validator and Full say whether nodes of that mode listen there.
	Validator, Full bool
}

// Ports are all of them. What is closed here is closed without any network policy.
var Ports = []Port{
	{Number: seid.PortP2P, Name: "P2P", Validator: true, Full: true},
	{Number: seid.PortRPC, Name: "RPC", Validator: true, Full: true},
	{Number: seid.PortMetrics, Name: "metrics of `seid`", Validator: true, Full: true},
	{Number: seid.PortSidecar, Name: "sidecar", Validator: true, Full: true},
	{Number: seid.PortGRPC, Name: "gRPC", Validator: true, Full: true},
	{Number: 9091, Name: "gRPC-Web", Full: true},
	{Number: seid.PortREST, Name: "REST", Full: true},
	{Number: seid.PortEVMRPC, Name: "EVM", Full: true},
	{Number: seid.PortEVMWS, Name: "EVM WebSocket", Full: true},
	{Number: 6060, Name: "pprof"},
	{Number: 26658, Name: "ABCI, remote signer"},
}

// PortRequest is a request to seid that only its owner should be able to make.
type PortRequest struct {
	Port         int32
	Method, Path string
	Body         string
	// Tells is what the answer is like if nothing was done.
	Tells *regexp.Regexp
	What  string
}

var unknownToRPC = regexp.MustCompile(`404 page not found|[Mm]ethod not found|does not exist`)

// PortRequests are tried on every node that listens on the port.
var PortRequests = []PortRequest{
	{seid.PortRPC, http.MethodGet, "/unsafe_flush_mempool", "", unknownToRPC, "unsafe methods: empty the mempool"},
	{seid.PortRPC, http.MethodGet, "/dial_peers", "", unknownToRPC, "unsafe methods: connect to peers"},
	{seid.PortRPC, http.MethodGet, "/unsafe_start_cpu_profiler", "", unknownToRPC, "unsafe methods: write a profile to a file"},
	{seid.PortRPC, http.MethodGet, "/debug/pprof/", "", unknownToRPC, "profiles"},
	{seid.PortMetrics, http.MethodGet, "/debug/pprof/", "", regexp.MustCompile(`404 page not found|^# HELP`), "profiles"},
	{seid.PortREST, http.MethodGet, "/debug/pprof/", "", regexp.MustCompile(`404|Not Implemented|not found`), "profiles"},
	{seid.PortEVMRPC, http.MethodPost, "/", `{"jsonrpc":"2.0","id":1,"method":"eth_accounts","params":[]}`,
		regexp.MustCompile(`"result":(\[\]|null)`), "accounts that the node would sign with"},
	{seid.PortEVMRPC, http.MethodPost, "/", `{"jsonrpc":"2.0","id":1,"method":"admin_nodeInfo","params":[]}`,
		regexp.MustCompile(`does not exist`), "administration"},
	{seid.PortEVMRPC, http.MethodPost, "/", `{"jsonrpc":"2.0","id":1,"method":"personal_listAccounts","params":[]}`,
		regexp.MustCompile(`does not exist`), "accounts"},
}
