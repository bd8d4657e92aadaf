// Package operation is the domain of a SeiNodeTask, as pure functions: which kinds there are and
// what each needs, whether a task may begin, behind which one it waits, and what its status says.
// It does no I/O and has no clock but the one in its input. How a step is done is in
// internal/task/nodetask.
package operation
