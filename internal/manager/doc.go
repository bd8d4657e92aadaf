// Package manager puts the operator process together: scheme, cache, clients,
// leader election, metrics, probes and the controllers. The binary and the tests
// that need a whole operator use the same assembly, so that what is tested is
// what runs.
//
// Wiring only. Nothing here knows what a node is.
package manager
