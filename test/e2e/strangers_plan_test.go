package e2e

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
	"github.com/sei-operator/sei-operator/test/security"
)

// strangersPlan is what the probers do, and what they need for it.
type strangersPlan struct {
	tries []try
	// stolen are tokens by the name of their file. audiences are those of the tokens that a prober asks for itself.
	stolen    map[string][]byte
	audiences map[string]string
}

// planOfStrangers has all attempts on both nodes. Each is the other one's for a stolen token.
func (s *scenario) planOfStrangers() strangersPlan {
	s.t.Helper()
	plan := strangersPlan{stolen: map[string][]byte{}, audiences: map[string]string{"api": ""}}
	for _, nodes := range [][2]string{{"full", "validator"}, {"validator", "full"}} {
		node := nodes[0]
		address := s.pod(node).Status.PodIP
		private := []string{s.seiNode(node).Status.NodeID, s.consensusAddress()}
		plan.audiences[node] = s.sidecarAudience(node)
		stolen := s.stolen(node, nodes[1])
		for i, token := range security.Tokens {
			shown := security.Attempt{}
			switch value, isStolen := stolen[token.Name]; {
			case isStolen:
				file := fmt.Sprintf("%s-%d", node, i)
				plan.stolen[file], shown.TokenFile = []byte(value), filepath.Join(stolenTokens, file)
			case token.Name == security.TokenOwn:
				shown.TokenFile = filepath.Join(ownTokens, "api")
			case token.Name == security.TokenOwnForNode:
				shown.TokenFile = filepath.Join(ownTokens, node)
			case token.Name == security.TokenRemoteUser:
				shown.Header = map[string]string{auth.RemoteUserHeader: operatorAccount}
			case token.Name != security.TokenNone:
				s.t.Fatalf("nobody knows how to come by a token %q", token.Name)
			}
			for _, request := range security.Requests {
				plan.tries = append(plan.tries, sidecarTry(node, address, shown, token, request, private))
				if !request.Open {
					plan.tries = append(plan.tries, plainTry(node, address, shown, token, request))
				}
			}
		}
		plan.tries = append(plan.tries, portTries(node, address)...)
	}
	return plan
}

// consensusAddress is what the validator signs as.
func (s *scenario) consensusAddress() string {
	s.t.Helper()
	var key struct {
		Address string `json:"address"`
	}
	decode(s.t, s.chain.signingKey, &key)
	return key.Address
}

// sidecarTry is an attempt on a sidecar. private is what no stranger is told.
func sidecarTry(node, address string, a security.Attempt, token security.Token, r security.Request, private []string) try {
	scheme := "https"
	if r.Open {
		scheme = "http" // as probes and scrapers ask
	}
	a = onSidecar(a, scheme, address, r)
	want := r.Answers
	stranger := token.Refused != 0
	if stranger && !r.Open {
		want = []int{token.Refused}
	}
	return try{a, node, string(token.Name), r.Method + " " + r.Target(), r.Open, func(o security.Outcome) string {
		switch {
		case !slices.Contains(want, o.Status):
			return fmt.Sprintf("answer %d (%s), want %v", o.Status, o.Error, want)
		case stranger && !r.Open && !strings.Contains(o.Body, token.Says):
			return fmt.Sprintf("refused for another reason: %q", o.Body)
		case (stranger || r.Open) && !r.Tells.MatchString(o.Body):
			return fmt.Sprintf("the answer tells %q", o.Body)
		case (stranger || r.Open) && slices.ContainsFunc(private, func(p string) bool { return p != "" && strings.Contains(o.Body, p) }):
			return fmt.Sprintf("the answer names the node's id or the address it signs with: %q", o.Body)
		}
		return ""
	}}
}

// plainTry is the same in the clear, where nobody gets what is not open, whatever they show.
func plainTry(node, address string, a security.Attempt, token security.Token, r security.Request) try {
	a = onSidecar(a, "http", address, r)
	return try{a, node, string(token.Name), "in the clear: " + r.Method + " " + r.Target(), false, func(o security.Outcome) string {
		if o.Status != http.StatusForbidden || !strings.Contains(o.Body, api.CodeForbidden) || !r.Tells.MatchString(o.Body) {
			return fmt.Sprintf("answer %d %.300q (%s), want %d", o.Status, o.Body, o.Error, http.StatusForbidden)
		}
		return ""
	}}
}

// onSidecar points an attempt at a sidecar.
func onSidecar(a security.Attempt, scheme, address string, r security.Request) security.Attempt {
	a.Method, a.Body = r.Method, r.Body
	a.URL = scheme + "://" + net.JoinHostPort(address, strconv.Itoa(api.DefaultPort)) + r.Target()
	return a
}

// portTries are attempts on all ports of a node.
func portTries(node, address string) (all []try) {
	listening := func(p security.Port) bool { return p.Validator && node == "validator" || p.Full && node == "full" }
	for _, p := range security.Ports {
		want := listening(p)
		a := security.Attempt{Address: net.JoinHostPort(address, strconv.Itoa(int(p.Number)))}
		all = append(all, try{a, node, noToken, "connecting to " + p.Name, true, func(o security.Outcome) string {
			if o.Connected != want {
				return fmt.Sprintf("connected: %v (%s), want %v", o.Connected, o.Error, want)
			}
			return ""
		}})
	}
	for _, r := range security.PortRequests {
		if !slices.ContainsFunc(security.Ports, func(p security.Port) bool { return p.Number == r.Port && listening(p) }) {
			continue
		}
		a := security.Attempt{
			Method: r.Method, Body: r.Body, Header: map[string]string{"Content-Type": "application/json"},
			URL: "http://" + net.JoinHostPort(address, strconv.Itoa(int(r.Port))) + r.Path,
		}
		all = append(all, try{a, node, noToken, fmt.Sprintf("port %d: %s", r.Port, r.What), true, func(o security.Outcome) string {
			if !r.Tells.MatchString(o.Body) {
				return fmt.Sprintf("answer %d %.300q (%s)", o.Status, o.Body, o.Error)
			}
			return ""
		}})
	}
	return all
}
