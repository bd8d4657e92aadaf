package look

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
)

// Listeners says on which TCP ports of this network namespace somebody listens.
type Listeners func() (map[int]bool, error)

// listenTables are the kernel's tables of TCP sockets. The containers of a pod share them.
var listenTables = []string{"/proc/net/tcp", "/proc/net/tcp6"}

// kernelListeners reads the kernel's tables, which tells more than a connection would and
// bothers nobody.
func kernelListeners() (map[int]bool, error) {
	ports := map[int]bool{}
	var errs []error
	for _, table := range listenTables {
		data, err := os.ReadFile(table) //nolint:gosec // one of listenTables
		if err != nil {
			errs = append(errs, err) // IPv6 may be off
			continue
		}
		addListeners(ports, data)
	}
	if len(errs) == len(listenTables) {
		return nil, errors.Join(errs...)
	}
	return ports, nil
}

// addListeners adds the ports of the sockets in state LISTEN.
func addListeners(ports map[int]bool, table []byte) {
	const local, socketState, listen = 1, 3, "0A"
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) <= socketState || fields[socketState] != listen {
			continue
		}
		_, port, ok := strings.Cut(fields[local], ":")
		if number, err := strconv.ParseUint(port, 16, 16); ok && err == nil {
			ports[int(number)] = true
		}
	}
}

// ports says which of its ports the node has opened.
func (l *Look) ports(set settings) Ports {
	open, err := l.Listeners()
	if err != nil {
		return Ports{RPCOff: set.RPCPort == 0}
	}
	return Ports{Known: true, P2P: open[set.P2PPort], RPC: open[set.RPCPort], RPCOff: set.RPCPort == 0}
}
