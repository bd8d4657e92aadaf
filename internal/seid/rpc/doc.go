// Package rpc is a small client of a node's consensus RPC: the handful of calls
// that the sidecar and the operator make, each with its own timeout.
//
// It knows the habits of the real node: answers to URI requests come without
// the JSON-RPC envelope, errors come with HTTP status 200, and numbers come as
// strings. It knows nothing of transactions or modules; bytes go in and out.
package rpc
