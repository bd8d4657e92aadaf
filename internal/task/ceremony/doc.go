// Package ceremony holds the tasks by which a fleet of validators makes the genesis of
// its chain. Every validator keeps its keys; what travels is its signed transaction,
// which the operator carries from sidecar to sidecar.
//
// A task looks at what is there, does at most one step and says how it went: it never
// touches the owner's status or conditions.
package ceremony
