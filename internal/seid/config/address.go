package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// The checks of this file accept exactly what seid does, so that the static rules never
// refuse a configuration that a node runs with.

var (
	anyCaseID    = regexp.MustCompile(`^[0-9a-fA-F]{40}$`)
	hostNotURL   = regexp.MustCompile(`^[^/:]+:\d+(/|$)`)
	hostName     = regexp.MustCompile(`^[a-zA-Z0-9_]([a-zA-Z0-9_.-]*[a-zA-Z0-9_.])?$`)
	errPeerShape = errors.New("want nodeid@host:port with a node id of 40 hex digits")
)

// checkPeerAddress reads a peer as seid does: a scheme may stand in front, the port may be
// missing, the id is of either case.
func checkPeerAddress(peer string) error {
	u, err := url.Parse(peer)
	if (err != nil || u.Scheme == "") && (!strings.Contains(peer, "://") || hostNotURL.MatchString(peer)) {
		u, err = url.Parse("mconn://" + peer)
	}
	switch {
	case err != nil:
		return errPeerShape
	case u.User == nil || !anyCaseID.MatchString(u.User.Username()):
		return errPeerShape
	case u.Hostname() == "":
		return errors.New("there is no host: " + errPeerShape.Error())
	}
	if port := u.Port(); port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return fmt.Errorf("%q is not a port", port)
		}
	}
	return nil
}

// splitPeers splits a list of peers as seid does: blanks and empty entries do not matter.
func splitPeers(list string) []string {
	var items []string
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.Trim(item, " "); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// checkListen checks host:port of something that listens. The host may be empty.
func checkListen(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not host:port", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q is not a port between 0 and 65535", port)
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" && !hostName.MatchString(host) {
		return fmt.Errorf("%q is neither an address nor a host name", host)
	}
	return nil
}

// checkP2PListen checks the address for peers, which has to have a port of its own.
func checkP2PListen(address string) error {
	address = withoutScheme(address)
	if _, port, err := net.SplitHostPort(address); err == nil && strings.Trim(port, "0") == "" {
		return fmt.Errorf("%q is not a port between 1 and 65535", port)
	}
	return checkListen(address)
}

// checkListenURL checks tcp://host:port or unix://path.
func checkListenURL(address string) error {
	scheme, rest, ok := strings.Cut(address, "://")
	switch {
	case !ok:
		return errors.New("there is no scheme")
	case scheme == "unix" && rest != "":
		return nil
	case scheme == "tcp" || scheme == "tcp4" || scheme == "tcp6":
		return checkListen(rest)
	}
	return fmt.Errorf("%q is not a scheme to listen with", scheme)
}

// withoutScheme is an address without the scheme that may stand in front.
func withoutScheme(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		return rest
	}
	return address
}
