package e2e

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/test/security"
)

// stateListen is TCP_LISTEN in /proc/net/tcp.
const stateListen = "0A"

// awaitPorts waits until the processes of a node's pod listen at the pod's address on the ports of the table, and on no
// other. Some are opened only after the node is in sync.
func (s *scenario) awaitPorts(node string, listens func(security.Port) bool) {
	s.t.Helper()
	var want []int32
	for _, p := range security.Ports {
		if listens(p) {
			want = append(want, p.Number)
		}
	}
	slices.Sort(want)
	await(s.t, inSyncTimeout, fmt.Sprintf("%s to listen on the ports %v alone", node, want), func(context.Context) (bool, string, error) {
		ports, err := listeners(s.pod(node))
		return slices.Equal(ports, want), fmt.Sprint(ports), err
	})
}

// listeners are the TCP ports that a pod can be called at from outside.
func listeners(pod *corev1.Pod) ([]int32, error) {
	pids := processes(pod, []string{"/opt/sei/sidecar", "serve"})
	if len(pids) == 0 {
		return nil, fmt.Errorf("the sidecar of %s does not run", pod.Name)
	}
	var ports []int32
	for _, file := range []string{"tcp", "tcp6"} {
		table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pids[0], file))
		if err != nil {
			return nil, fmt.Errorf("reading the sockets of %s: %w", pod.Name, err)
		}
		for line := range strings.Lines(string(table)) {
			fields := strings.Fields(line)
			if len(fields) < 4 || fields[3] != stateListen {
				continue
			}
			address, err := socketAddress(fields[1])
			if err != nil {
				return nil, err
			}
			if !address.Addr().Unmap().IsLoopback() {
				ports = append(ports, int32(address.Port()))
			}
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports), nil
}

// socketAddress reads an address of /proc/net/tcp: 32-bit words in the machine's order, and the port.
func socketAddress(text string) (netip.AddrPort, error) {
	address, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(address)
	number, portErr := hex.DecodeString(port)
	if err != nil || portErr != nil || len(raw)%4 != 0 || len(number) != 2 {
		return netip.AddrPort{}, fmt.Errorf("reading the socket %q", text)
	}
	for i := 0; i < len(raw); i += 4 {
		binary.BigEndian.PutUint32(raw[i:], binary.NativeEndian.Uint32(raw[i:]))
	}
	ip, ok := netip.AddrFromSlice(raw)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("reading the socket %q", text)
	}
	return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(number)), nil
}
