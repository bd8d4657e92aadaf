// Package metrics holds every metric of the operator. Names, labels and help are
// declared once, in names.go; docs/reference/metrics.md is made from that declaration.
//
// All metrics live in controller-runtime's registry, so there is one endpoint to
// scrape. A label never takes a value that a user can invent freely, except the
// namespace and name of an object; a series that carries a name goes away with
// its object through Forget.
//
// Nothing here decides anything, and nothing reads a metric back.
package metrics
