// Package platform is what the operator knows about the cluster it runs in:
// where pods may run, which volumes and resources nodes get by default, which
// buckets, images and gateways there are. It is read once at start from one
// optional YAML file; every field has a default.
//
// A mistake in the file is an error at start that names file, line and field,
// never a surprise inside a reconcile. No Kubernetes calls, no environment
// variables, nothing that changes while the operator runs.
package platform
