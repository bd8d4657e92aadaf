// Package fault disturbs the operator at every single one of its calls and wants the same end.
//
// A scenario is run once undisturbed, and every write to the API and every call of a sidecar is
// recorded. Then it is run again for each of these calls and each disturbance that fits: the
// operator's process dies right before or after it, its answer is lost, it fails, somebody else
// writes in between. At the end the objects, the volumes and the chain processes have to be what
// they are without a disturbance, with as many objects made and deleted and as many tasks given to
// the sidecars, and the operator silent.
//
// What is not compared is in internal/describe and normalise_test.go, with reasons. CONTRIBUTING.md says how to read and
// replay a failure.
package fault
