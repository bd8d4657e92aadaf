// Package look is the sidecar's look at its node: it gathers what the process record, the
// volume, the node's RPC and the kernel say, judges the node's sync state, and
// puts the document of GET /v0/node together. Readiness and metrics come from the same look.
//
// A look is bounded and cheap. What takes long is measured beside it, what many ask for is
// asked once, and what cannot be found out is left empty. The package changes nothing but
// the mark that the node was in sync; it starts, stops and configures nothing.
package look
