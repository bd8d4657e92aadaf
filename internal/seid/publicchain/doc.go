// Package publicchain knows the genesis files of the public chains: what is in them, whatever
// version of seid wrote them down. It reads; fetching and installing is done elsewhere.
package publicchain
