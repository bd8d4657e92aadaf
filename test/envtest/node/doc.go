// Package node proves the SeiNode controller against a real API server and the real
// StatefulSet controller, with simulated kubelets and sidecars that keep the wire
// contract. Every API request of the operator is recorded, so an extra write fails.
package node
