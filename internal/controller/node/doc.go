// Package node reconciles SeiNodes: observe, decide, act, report. Each step is a
// file, read top to bottom. The package wires and orders; decisions are made in
// planner, objects are rendered in render, steps are done by tasks, and status is
// derived at the end and written once by statuspatch.
package node
