// Package keys reads the key files of a node and checks that they are what they
// claim to be: JSON of the right shape, keys of the right length, a public key
// that belongs to the private one and an address that belongs to the public one.
//
// No error and no value of this package ever carries private key material, so
// both may be logged and shown in a status. Nothing here writes a key.
package keys
