// Package nodetask holds the steps of SeiNodeTasks and their registry. A step looks at what is
// there, moves it on and says how it went: it never touches a status or a condition. Steps keep
// their ids whatever happens; the sidecar runs one that failed once more under the same id, and
// the task's own timeout is the only bound.
package nodetask
