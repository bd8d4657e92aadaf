// Package crd holds the CustomResourceDefinitions of this version, for programs that check
// manifests without a cluster. The files are generated from api/v1alpha1.
package crd

import "embed"

// Files are the definitions, one file each.
//
//go:embed sei.io_*.yaml
var Files embed.FS
