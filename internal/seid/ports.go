package seid

import "slices"

// Port is one TCP port of a node.
type Port struct {
	// Name is the port's name in a Service; it is unique within a node.
	Name string
	// Number is what a node listens on unless it is configured otherwise.
	Number int32
	// AppProtocol is set where a proxy has to know the protocol.
	AppProtocol string
}

// The well-known port numbers.
const (
	PortEVMRPC  int32 = 8545
	PortEVMWS   int32 = 8546
	PortGRPC    int32 = 9090
	PortREST    int32 = 1317
	PortP2P     int32 = 26656
	PortRPC     int32 = 26657
	PortMetrics int32 = 26660
	PortSidecar int32 = 7777
)

// The names of the ports that Services carry.
const (
	PortNameEVMRPC  = "evm-rpc"
	PortNameEVMWS   = "evm-ws"
	PortNameGRPC    = "grpc"
	PortNameREST    = "rest"
	PortNameP2P     = "p2p"
	PortNameRPC     = "rpc"
	PortNameMetrics = "metrics"
)

// MetricMempool is what seid calls the number of transactions in its mempool, of those metrics of
// its own that dashboards show.
const MetricMempool = "tendermint_mempool_size"

// AllPorts lists every port a node may offer to others.
func AllPorts() []Port {
	return []Port{
		{Name: PortNameEVMRPC, Number: PortEVMRPC},
		{Name: PortNameEVMWS, Number: PortEVMWS},
		{Name: PortNameGRPC, Number: PortGRPC, AppProtocol: "kubernetes.io/h2c"},
		{Name: PortNameREST, Number: PortREST},
		{Name: PortNameP2P, Number: PortP2P},
		{Name: PortNameRPC, Number: PortRPC},
		{Name: PortNameMetrics, Number: PortMetrics},
	}
}

// Ports lists what a node of the given mode offers to others. Validators and
// seeds offer only the peer-to-peer port and their metrics; their RPC, where it
// listens at all, is for probes and the sidecar.
func Ports(mode Mode) []Port {
	if mode.ServesRPC() {
		return AllPorts()
	}
	return slices.DeleteFunc(AllPorts(), func(p Port) bool {
		return p.Name != PortNameP2P && p.Name != PortNameMetrics
	})
}
