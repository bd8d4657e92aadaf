// Package install proves that config/default runs the operator as it is: on a real
// API server, with the permissions and the pod of the manifests and no others.
package install
