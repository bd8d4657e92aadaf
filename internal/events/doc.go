// Package events tells users about transitions, through the events API of
// events.k8s.io. Every reason is a constant with a fixed type and action; the
// catalogue in reasons.go is the source of docs/reference/events.md.
//
// An event is written to the API server, so it costs as much as a status write:
// there is one per transition and none at rest. Facts that last belong in
// conditions. Which transitions a node made is derived here from its status
// before and after; nothing else is decided here.
package events
