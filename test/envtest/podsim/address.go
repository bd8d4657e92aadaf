package podsim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
)

// subnet hands out loopback addresses 127.N.x.y. Every address of 127/8 is
// the machine's own on Linux, so simulated pods can be dialled.
type subnet struct {
	second int
	claim  net.Listener
	next   atomic.Uint32
}

// claimPort is bound on 127.N.0.1 to reserve 127.N.0.0/16 among the test
// processes of this machine.
const claimPort = "7676"

func reserveSubnet() (*subnet, error) {
	var errs []error
	for second := 16; second < 250; second++ {
		addr := net.JoinHostPort(fmt.Sprintf("127.%d.0.1", second), claimPort)
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", addr)
		if err == nil {
			return &subnet{second: second, claim: l}, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("reserving loopback addresses: %w", errors.Join(errs...))
}

// take returns an address that was not handed out before.
func (n *subnet) take() string {
	i := n.next.Add(1) + 255
	return fmt.Sprintf("127.%d.%d.%d", n.second, i>>8&0xff, i&0xff)
}

func (n *subnet) release() { _ = n.claim.Close() }
