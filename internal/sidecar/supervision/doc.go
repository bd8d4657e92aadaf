// Package supervision is what the gate and the sidecar tell each other through the
// volume: the record of the chain process, which only the gate writes, and the order to
// end it, which only the sidecar writes. A lock says whether a gate is there.
//
// Files and their meaning. Starting, signalling and waiting is done elsewhere.
package supervision
