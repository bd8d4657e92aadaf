// Package wire holds the parameters and results of every task as they travel:
// one type per task type, with the rules that can be checked before a task is
// accepted. Clients build them, handlers read them. No I/O, and nothing that
// depends on a node's state.
package wire
