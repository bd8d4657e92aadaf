// Package leaks finds secrets where none belongs: in logs, objects, metrics, reports, task stores and core files. It
// knows the secrets of a run, in the encodings in which they are likely to be written down, and what private keys
// and tokens look like in general. What it finds it names by origin and place, and never shows.
package leaks
