// Package podsim plays kubelet, scheduler and volume provisioner for the pods
// of a test, against a real API server. Pods are bound to simulated nodes, wait
// for their claims, run their init containers in order, report container
// statuses and conditions the way a kubelet does, answer probes, crash, restart,
// terminate gracefully and get stuck on lost nodes, all on command.
//
// Nothing runs: what a container would do is asked of a Runtime, which
// sidecarsim implements. StatefulSets, Jobs, revisions and claims are the
// business of the real kube-controller-manager and never touched here.
package podsim
