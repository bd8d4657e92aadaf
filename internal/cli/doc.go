// Package cli is the kubectl plugin `kubectl sei`: one file per command, registered in commands.go.
//
// A command gets a Factory, asks it for a Cluster, reads or writes objects, and prints through an
// Output. What a command says of objects is worked out by functions of their own that take objects
// and a time and return what is to be printed, so that tests need no cluster. Nothing here is used
// by the operator, and nothing here writes a status.
package cli
