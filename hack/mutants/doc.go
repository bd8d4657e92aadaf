// Mutants makes deliberate defects, one at a time, and looks for a test that notices each.
//
// The defects are data, in table/*.yaml: a text that occurs in a file exactly once, and its
// replacement. All of them are compiled in at once: a function with defects is turned into one that
// selects, by an environment variable, either the original or a copy with one defect. So every test
// binary is built once and run once per mutant. Nothing is changed on disk: the compiler reads the
// changed files from an overlay.
//
// The tests of the file's own package run first, then those that the mutant names, until one
// fails.
package main
