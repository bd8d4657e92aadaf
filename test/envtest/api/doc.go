// Package api holds the tests of the API's admission rules: what the API server
// accepts, what it refuses, and with which words. It has no code of its own.
package api
