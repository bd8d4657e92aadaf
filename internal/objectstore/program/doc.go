// Package program opens buckets in a process of their own, which lives as long as one call:
// the clouds' SDKs take more memory than a sidecar, used or not. It holds both sides.
//
// The call is the first line of the process's input, in JSON. What is to be written follows
// in the chunks of HTTP, whose last one tells a whole object from one that was cut off. Output
// is what was asked for, after a line that says that it comes; an error is the last line on
// standard error.
package program
