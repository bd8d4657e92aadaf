// Package tutorial runs docs/tutorial.md: every command of the page, in its order, on a live cluster of its
// own, as the reader does. It fails when a command fails that should not, and when an output is another one
// than the page shows. How outputs are compared is said in test/tutorial/transcript.
//
// With TUTORIAL=write the outputs that have changed are written into the page, and the pictures are drawn again.
package tutorial
