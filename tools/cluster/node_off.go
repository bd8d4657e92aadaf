//go:build !node

package main

import "github.com/sei-operator/sei-operator/tools/cluster/internal/multicall"

// nodeProfile is empty in the plain build: tests against the API need no kubelet, and linking one would
// double the time of a cold build.
func nodeProfile() multicall.Table { return nil }
