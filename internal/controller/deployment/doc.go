// Package deployment reconciles SeiNodeDeployments: observe, decide, act, report. It does what
// needs the cluster and keeps the order; what the nodes should be, which may move and what the
// status says is decided in fleet, and a ceremony's steps are done by its tasks.
package deployment
