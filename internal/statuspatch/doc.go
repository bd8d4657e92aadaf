// Package statuspatch is the only code that writes a status subresource.
//
// A controller takes a snapshot when a reconcile starts, changes the object's
// status in memory, and hands the object back once at the end. What changed is
// found by comparison, so a new status field needs no line here and no reconcile
// keeps dirty flags. The one write carries the resourceVersion of the snapshot:
// of two reconciles that started from the same state exactly one succeeds, and
// the other reads again.
//
// Decisions about what the status should say do not belong here, nor does any
// retry: a conflict means the decision was made on old facts, so it has to be
// made again.
package statuspatch
