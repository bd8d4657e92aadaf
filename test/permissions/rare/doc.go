// Package rare has the operator use rights that it needs in rare cases only, and that no other test is sure
// to come by: what happens by itself on a busy cluster is brought about here. The control plane is that of
// test/envtest, and make test-envtest runs it.
package rare
