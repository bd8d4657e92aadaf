// Package plan is the engine that takes an object from one state to another: an
// ordered list of tasks, kept in the owner's status, run forward until one has to
// wait. The engine is stateless; a new process continues from the plan alone.
//
// It knows no Kubernetes client, no HTTP and no task by name. What a task does,
// and on what, is the caller's: tasks are looked up in a Registry and get an
// environment of the caller's type.
package plan
