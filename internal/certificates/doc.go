// Package certificates makes the certificates by which sidecars prove to the operator which node
// they belong to: the operator's certificate authority, and the certificates it issues. It knows
// nothing about nodes: names are passed in.
package certificates
