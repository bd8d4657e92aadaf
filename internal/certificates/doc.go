// Package certificates makes the certificates by which sidecars prove to the operator whose they
// are: the certificate authority of the operator, and what it issues. It knows no nodes: a name is
// given to it.
package certificates
