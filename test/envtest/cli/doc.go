// Package cli proves that the kubectl plugin does what it says against a real API server: the rules of
// the CRDs, dry runs, conflicts, field selectors and permissions are its own, not a fake's.
package cli
