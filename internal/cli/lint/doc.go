// Package lint judges manifests without a cluster: what the API server would refuse (schema, CEL
// rules, unknown fields) and what the operator would refuse afterwards (override keys and values,
// keys that decide about signing, addresses and amounts of a genesis). It finds no more than the
// operator and the API server of this version do, because it runs their code. It does no I/O.
package lint
