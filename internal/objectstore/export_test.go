package objectstore

import "errors"

// Classify shows the tests how an error of a driver is read.
func Classify(err error) *Error {
	e, _ := errors.AsType[*Error](classify("b", "k", "reading", err))
	return e
}

// PartSize is partSize.
var PartSize = partSize
