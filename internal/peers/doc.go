// Package peers turns a node's peer sources into addresses: a sorted list of
// nodeid@host:port without duplicates.
//
// A source that does not answer keeps the addresses it gave last: losing a
// directory must not cut a node off from peers that are still there. Nothing here
// waits longer than a reconcile may; slow sources are asked in the background.
// Writing the list into a node's configuration belongs elsewhere.
package peers
