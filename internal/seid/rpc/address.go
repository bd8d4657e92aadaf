package rpc

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Server is the address of another node's RPC: host:port, or an http or https URL that
// may have a path.
type Server struct {
	scheme, host, port, path string
}

// errServerForm is what to write instead of an address that cannot be used.
var errServerForm = errors.New("want host:port or a URL such as https://rpc.example.com/sei")

// ParseServer reads an address as people write it. Port 443 without a scheme means https.
// What seid's client would drop without a word (a query), what would end up in task
// records (credentials) and what would split a list (a comma) is refused.
func ParseServer(address string) (Server, error) {
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == ',' || r == '"' || r == 0x7f }) {
		return Server{}, fmt.Errorf("%q has spaces, commas or quotes in it: %w", address, errServerForm)
	}
	full := strings.TrimPrefix(address, "tcp://")
	if !strings.Contains(full, "://") {
		full = "http://" + full
		if strings.HasSuffix(full, ":443") {
			full = "https" + strings.TrimPrefix(full, "http")
		}
		if !strings.Contains(address[strings.LastIndex(address, "]")+1:], ":") {
			return Server{}, fmt.Errorf("%q has no port: %w", address, errServerForm)
		}
	}
	u, err := url.Parse(full)
	if err != nil {
		return Server{}, fmt.Errorf("%q is not an address: %w", address, errServerForm)
	}
	return serverOf(address, u)
}

func serverOf(address string, u *url.URL) (Server, error) {
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	switch {
	case port == "":
		return Server{}, fmt.Errorf("%q has the scheme %q: %w", address, u.Scheme, errServerForm)
	case u.Hostname() == "":
		return Server{}, fmt.Errorf("%q names no host: %w", address, errServerForm)
	case u.User != nil:
		return Server{}, errors.New("the address has credentials in it, which would be stored in plain text: use a server that needs none")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Server{}, fmt.Errorf("%q has a query or fragment, which seid does not send: %w", address, errServerForm)
	}
	if u.Port() != "" || strings.HasSuffix(u.Host, ":") {
		port = u.Port()
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Server{}, fmt.Errorf("%q: %q is not a port: %w", address, port, errServerForm)
	}
	path := u.EscapedPath()
	if path == "/" {
		path = ""
	}
	return Server{scheme: u.Scheme, host: strings.ToLower(u.Hostname()), port: port, path: path}, nil
}

// URL is the address in full, port included.
func (s Server) URL() string { return s.scheme + "://" + net.JoinHostPort(s.host, s.port) + s.path }

// String is the address as seid's configuration takes it. seid puts http:// before an
// entry without a scheme and dials port 80 or 443 only for host names, so an entry that
// is not plain host:port is written as a URL with its port.
func (s Server) String() string {
	if s.scheme == "http" && s.path == "" {
		return net.JoinHostPort(s.host, s.port)
	}
	return s.URL()
}
