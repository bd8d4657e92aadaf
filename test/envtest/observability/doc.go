// Package observability proves that the operator reports everything it claims to report: one run through the
// life of nodes and fleets touches every metric that is declared, with no other labels and values than the
// declared ones, and leaves none behind; and nothing secret gets into the log. It runs in a process of its
// own, so that no other test's metrics are taken for its own.
package observability
