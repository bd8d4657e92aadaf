// Package migrate says what becomes of objects of the public operator, whose kinds have the same
// names, when this operator takes their place. It compares them with what this operator accepts and
// adopts, and changes nothing. It does no I/O.
package migrate
