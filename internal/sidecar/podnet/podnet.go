// Package podnet finds out by which address families a pod can be reached. It looks at the
// addresses of the network namespace and decides nothing about what listens on them.
package podnet

import "net"

// Families are the address families of a pod.
type Families struct {
	// IPv4Loopback: 127.0.0.1 is there, as it is nearly everywhere.
	IPv4Loopback bool
	// IPv6Only: other pods can reach this one by IPv6 alone.
	IPv6Only bool
}

// Here are the families of this process's network namespace. What cannot be found out is
// taken to be as usual.
func Here() Families {
	addresses, err := net.InterfaceAddrs()
	if err != nil || len(addresses) == 0 {
		return Families{IPv4Loopback: true}
	}
	return Of(addresses)
}

// Of are the families of some addresses.
func Of(addresses []net.Addr) Families {
	var loopback4, outer4, outer6 bool
	for _, a := range addresses {
		network, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		v4 := network.IP.To4() != nil
		switch {
		case network.IP.IsLoopback():
			loopback4 = loopback4 || v4
		case network.IP.IsLinkLocalUnicast():
		case v4:
			outer4 = true
		default:
			outer6 = true
		}
	}
	return Families{IPv4Loopback: loopback4, IPv6Only: outer6 && !outer4}
}
