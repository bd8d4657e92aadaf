// Package config is the configuration engine of a node. It starts from the files
// that `seid init` of the node's own version wrote, applies the profile of the
// node's mode and the user's overrides, keeps every key it does not know, and
// checks the result against the rules of the chain.
//
// People name settings by unified keys (evm.http_port); a table says in which
// file and under which TOML key each one lives. Everything but Read and Write is
// pure: files in, files out.
package config
