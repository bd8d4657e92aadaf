// Package seid holds facts about the chain binary: the modes a node can run in,
// the ports it opens, the names it is known by. The packages below it know its
// home directory (home), its key files (keys), its process (process), its RPC
// (rpc) and its configuration (config).
//
// Facts and pure functions only. No Kubernetes, no chain code: the binary is
// run, never linked.
package seid

// BinaryName is the name of the chain binary, and the comm of its process.
const BinaryName = "seid"
