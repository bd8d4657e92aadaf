// Command cluster is a whole Kubernetes in one binary: every component is linked in and chosen by the name the
// binary is called by (a symlink called kube-apiserver is the API server) or by the first argument
// (cluster kube-apiserver ...).
//
// The plain build holds the control plane, which is all that envtest needs. The build tag "node" adds what runs
// real pods, and the commands that bring such a cluster up and down.
//
// Only the start-up plumbing of the components belongs here; nothing about the operator may enter.
package main

import (
	"os"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/multicall"
)

func main() {
	os.Exit(multicall.Run(components(), os.Args, os.Stderr))
}

// components lists everything this build can be called as.
func components() multicall.Table {
	return append(controlPlane(), nodeProfile()...)
}
