// Package task holds the tasks of a node's plans, one file each, and their
// registry. A task looks at what is there, does at most one step and says how it
// went: it never touches the owner's status or conditions.
package task
