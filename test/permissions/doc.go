// Package permissions holds the operator's roles against their documentation, and against what the
// operator asked of the API server in the tests of test/envtest and in the end-to-end tests: a right that
// nobody uses is one that only an attacker needs. What is no test is for those who write down what they
// used. The folder rare has tests of its own, which use what other tests are not sure to come by.
package permissions
