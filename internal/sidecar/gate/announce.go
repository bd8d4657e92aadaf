package gate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid"
)

const (
	// envExternalAddress goes before external-address of seid's configuration file.
	envExternalAddress = "SEID_P2P_EXTERNAL_ADDRESS"
	lookupTimeout      = 2 * time.Second
	lookupAttempts     = 3
)

// Names looks up host names; *net.Resolver does.
type Names interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// Announce is the environment that lets seid start although the address it announces cannot be
// looked up, and why. seid ends at once over such an address, so a record that is not there yet, or
// a name server that is away, would keep a node down that needs neither: the address is only told to
// others. It announces the pod's own until its next start.
func Announce(ctx context.Context, names Names, address string) (env []string, why error) {
	host := nameIn(address)
	if host == "" {
		return nil, nil
	}
	if err := lookup(ctx, names, host); err != nil {
		return []string{envExternalAddress + "=" + net.JoinHostPort(ownIP(), strconv.Itoa(int(seid.PortP2P)))},
			fmt.Errorf("looking up the external address %s: %w", host, err)
	}
	return nil, nil
}

// nameIn is the host name of an address; empty when it has an IP instead, or is malformed. The
// latter is left to seid, which refuses it with better words.
func nameIn(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil || net.ParseIP(host) != nil {
		return ""
	}
	return host
}

// lookup asks again when there was no answer. That there is no such name, or no address for it, is one.
func lookup(ctx context.Context, names Names, host string) (err error) {
	for range lookupAttempts {
		attempt, cancel := context.WithTimeout(ctx, lookupTimeout)
		var found []string
		found, err = names.LookupHost(attempt, host)
		cancel()
		if err == nil && len(found) == 0 {
			return errors.New("the name has no address")
		}
		if problem, ok := errors.AsType[*net.DNSError](err); err == nil || ctx.Err() != nil || ok && problem.IsNotFound {
			return err
		}
	}
	return err
}

// ownIP is an address of this pod, or one that leads nowhere.
func ownIP() string {
	addresses, _ := net.InterfaceAddrs() // none is as good as an error
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return net.IPv4(127, 0, 0, 1).String()
}
