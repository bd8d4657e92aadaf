// Package planner decides what happens to a node: which plan to start, to keep or
// to give up, and why. Decisions are pure functions of the node, what was observed
// of it and what is wanted; the rule that matches is the message users read.
//
// No I/O enters this room, no clock but the one in the input, and no condition is
// read: conditions tell people what was decided, they do not decide.
package planner
