// Package schema walks through the fields of the API, as Acto does (SOSP'23).
//
// The fields come from the CRDs, so a new one is walked by itself. Every value that its schema allows
// is given to a running object, one after another; what follows has to be what an object made with
// that spec is. Then the old value is put back, and everything has to be as before. Values that are
// not allowed have to be refused, or reported in a condition, and recovered from.
//
// table_test.go says what a schema does not tell: values, what is immutable, and what is left out.
package schema
