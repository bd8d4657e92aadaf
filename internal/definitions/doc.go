// Package definitions compares the fields of the CustomResourceDefinitions of this version with those
// that a cluster has. It reads no cluster: whoever asks hands in what the API server says.
package definitions
