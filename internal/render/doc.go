// Package render turns a SeiNode into the Kubernetes objects that run it:
// StatefulSet, headless Service, data claim, bootstrap Job, and into the
// configuration the sidecar writes. One file per object, one per concern of the
// pod.
//
// Pure functions of their input: no I/O, no clock, no randomness. What is
// rendered twice is the same twice, because a difference would be seen as drift.
// Whether and when something is applied is decided elsewhere.
package render
