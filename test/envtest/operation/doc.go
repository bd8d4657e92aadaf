// Package operation proves the SeiNodeTask controller against a real API server, with nodes that
// the operator runs and simulated sidecars that keep the wire contract. Every API request of the
// operator is recorded, so an extra write fails.
package operation
