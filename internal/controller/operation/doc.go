// Package operation reconciles SeiNodeTasks: observe, decide, act, report. Each step is a file,
// read top to bottom. The package does the I/O and puts things in order; decisions are made and
// status is derived in internal/operation, the steps of a task are in internal/task/nodetask, and
// status is written once at the end by statuspatch.
package operation
