// Package node reconciles SeiNodes: observe, decide, act, report. Each step is a
// file, read top to bottom. The package does the I/O and puts things in order;
// decisions are made and status is derived in internal/node, objects are rendered in
// render, the steps of a plan are done by tasks, and status is written once at the end
// by statuspatch.
package node
