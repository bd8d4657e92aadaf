// Package objectstore reads and writes buckets: snapshots, genesis files,
// exported results. Objects are streamed, never held in memory, and every error
// says whether trying again can help.
//
// It knows nothing of nodes or tasks, nor of any cloud. A program opens buckets itself, with
// the drivers package, or has another program do it, with the program package.
package objectstore
