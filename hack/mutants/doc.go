// Mutants makes deliberate defects, one at a time, and looks for a test that notices each.
//
// The defects are data, in table/*.yaml: a text of a file that occurs there exactly once, and what
// takes its place. All of them are compiled in at once: a function with defects becomes one that
// chooses, by the environment, between itself as it is and a copy with one defect. So every test
// binary is built once and run once per mutant. Nothing is changed on disk: the compiler reads the
// changed files by an overlay.
//
// The tests of the file's own package are asked first, then those that the mutant names, until one
// fails.
package main
