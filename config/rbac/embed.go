// Package rbac holds the roles of the operator of this version, for programs that compare them with
// what a cluster grants. The file is generated from markers in the code.
package rbac

import _ "embed"

// Role is role.yaml: what the operator needs in the cluster, and in its own namespace.
//
//go:embed role.yaml
var Role []byte
