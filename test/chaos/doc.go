// Package chaos has the parts of `make chaos` that need no cluster: which disturbances are drawn from a seed, how what was
// seen is judged, and the report with its picture. What disturbs and watches a live network is in test/e2e.
package chaos
