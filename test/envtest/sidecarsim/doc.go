// Package sidecarsim runs the sidecars of simulated pods: a podsim.Runtime whose
// sidecar containers listen on their pod's own loopback address while they run.
//
// HTTP, task store, queueing, idempotency and the checks of parameters are the
// real sidecar's code, so the fake cannot be more lenient than the real thing.
// Only what a task would do to a node is replaced by what the test says: it
// completes at once unless programmed otherwise. The store belongs to the
// volume and survives the pod; the gate belongs to the process and does not.
package sidecarsim
