// Package node is the domain of a SeiNode, as pure functions: the facts that were seen of a
// node, the target its spec asks for, the ordered steps that lead from one to the other, and
// which of them are missing. A plan is the list of missing steps; nothing else decides. What a
// pass came to is reported here too, as the status that follows from it.
//
// No I/O enters, no Kubernetes client, no clock but the one in the input. Conditions and phase
// are output: no decision reads them.
package node
