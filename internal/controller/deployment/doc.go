// Package deployment reconciles SeiNodeDeployments: observe, decide, act, report.
// Each step is a file, read top to bottom. The package wires and orders; what the
// nodes should be and which may move is decided in fleet, a ceremony's steps are
// done by its tasks, and status is derived at the end and written once by
// statuspatch.
package deployment
