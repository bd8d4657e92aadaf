// Package security says what strangers get from a node: who tries with which token, what they ask for, and the
// answers that they may get. test/e2e sends the prober into a live cluster and holds its answers against these
// tables; docs/reference/exposed-endpoints.md shows them.
//
// The package leaks, below, finds secrets where none belongs.
package security
