// Package sidecarsim runs the sidecars of simulated pods: a podsim.Runtime whose
// sidecar containers listen on their pod's own loopback address while they run.
//
// HTTP, task store, queueing, idempotency and the checks of parameters are the
// real sidecar's code, so the fake cannot be more lenient than the real thing.
// What tasks work on is a model: the home belongs to the volume and survives the
// pod, the gate belongs to the sidecar's process and the chain process to the pod.
// Tasks complete at once and change the model as the real ones change a node,
// unless the test programs another outcome. The model also notes what must never
// happen; see Violations.
//
// No rule of the operator may enter: the model knows nodes, not how they are run.
package sidecarsim
