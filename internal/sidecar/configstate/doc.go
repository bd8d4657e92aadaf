// Package configstate keeps, on the volume, what is known of the configuration in a node's
// home: the name its author gave it, whether it is valid for which version of seid, the
// last configuration that was, and the one the running process was started with.
//
// All of it is tied to the content of the files, so that nothing is ever said of files
// other than those it was found out about. The sidecar and the gate both use it: every
// change happens under a lock on the volume and is finished by whoever comes next when
// the one who began it was killed. What makes a configuration valid is not decided here.
package configstate
