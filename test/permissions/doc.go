// Package permissions holds the operator's roles against their documentation, and against what the
// operator asked of the API server in the tests of test/envtest: a right that nobody uses is one that
// only an attacker needs.
package permissions
