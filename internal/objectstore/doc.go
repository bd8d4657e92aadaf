// Package objectstore reads and writes buckets: snapshots, genesis files,
// exported results. Objects are streamed, never held in memory, and every error
// says whether trying again can help.
//
// It knows nothing of nodes or tasks. The cloud drivers live in the drivers
// package, so that a program which only names buckets does not link them.
package objectstore
