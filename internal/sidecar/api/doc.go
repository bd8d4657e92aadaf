// Package api holds the wire types of the sidecar's v0 HTTP API, shared by the
// client and the server. Types and constants only: no I/O, no defaults, no
// behaviour beyond small accessors.
package api
