package peers

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// A peer ends up in a comma-separated list inside a configuration file, so
// nothing but plain names, addresses and digits may pass.
var (
	nodeIDPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)
	hostPattern   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$`)
)

// address makes nodeid@host:port of its parts, or says which part is wrong.
func address(nodeID, host string, port int32) (string, error) {
	nodeID = strings.ToLower(nodeID)
	if !nodeIDPattern.MatchString(nodeID) {
		return "", fmt.Errorf("node id %q is not 40 hexadecimal digits", nodeID)
	}
	if err := checkHost(host); err != nil {
		return "", err
	}
	if port < 1 || port > 65535 {
		return "", fmt.Errorf("port %d is not between 1 and 65535", port)
	}
	return nodeID + "@" + net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

func checkHost(host string) error {
	if ip, err := netip.ParseAddr(host); (err == nil && ip.Zone() == "") || hostPattern.MatchString(host) {
		return nil
	}
	return fmt.Errorf("host %q is neither a name nor an IP address", host)
}

// parse checks nodeid@host:port and returns it in the form that address makes.
func parse(text string) (string, error) {
	nodeID, hostPort, ok := strings.Cut(text, "@")
	if !ok {
		return "", fmt.Errorf("%q is not nodeid@host:port", text)
	}
	host, port, err := splitHostPort(hostPort)
	if err != nil {
		return "", err
	}
	return address(nodeID, host, port)
}

func splitHostPort(text string) (string, int32, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not host:port", text)
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		return "", 0, fmt.Errorf("port %q is not a number", port)
	}
	return host, int32(number), nil
}
