// Package fleet proves the SeiNodeDeployment controller, together with the SeiNode
// controller, against a real API server and the real StatefulSet controller, with
// simulated kubelets and sidecars that keep the wire contract.
package fleet
