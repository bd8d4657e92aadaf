// Package tracing exports what the operator does as OpenTelemetry spans, if the
// standard OTEL variables of the environment name a receiver. Without one there is no
// tracer, and nothing is wrapped.
//
// There is a span per reconcile with one below it per call of a task, and, when a plan
// ends, a trace of its own from the times in the plan: how long each task took, over
// all reconciles and restarts. Spans carry names of objects, plans and tasks, and
// errors as the status shows them; never a parameter of a task.
package tracing
