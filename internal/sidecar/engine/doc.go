// Package engine stores, queues and runs the sidecar's tasks. It survives being
// killed at any moment: what was accepted is on disk before the caller hears of
// it, and what was running is run again. It knows no HTTP and no task by name
// except the two that move the readiness gate.
package engine
