package api

import "slices"

// TokenAudience is the audience of the service-account tokens that sidecars below LevelNodeToken
// accept, and those whose pod does not tell them the UID of their node. They all accept the same.
const TokenAudience = "sei-sidecar"

// NodeAudience is the audience of the tokens that the sidecar of one node accepts: a token that one
// node's pod has seen is of no use on another's. The UID keeps a token from outliving its node.
func NodeAudience(namespace, name, uid string) string {
	return TokenAudience + "/" + namespace + "/" + name + "/" + uid
}

// public are the paths that probes and scrapers ask for, and the gate over loopback.
var public = []string{PathHealth, PathStartup, PathLive, PathGate, PathInSync, PathMetrics}

// The public paths that have no documents of their own.
const (
	PathHealth  = "/v0/healthz"
	PathStartup = "/v0/startupz"
	PathLive    = "/v0/livez"
	PathMetrics = "/v0/metrics"
)

// IsPublic reports whether a path is open to everybody. No caller sends a token there.
func IsPublic(path string) bool { return slices.Contains(public, path) }
