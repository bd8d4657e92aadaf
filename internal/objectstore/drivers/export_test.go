package drivers

import (
	"errors"

	"github.com/sei-operator/sei-operator/internal/objectstore"
)

// Classify shows the tests how an error of a driver is read.
func Classify(err error) *objectstore.Error {
	e, _ := errors.AsType[*objectstore.Error](classify("b", "k", "reading", err))
	return e
}

// PartSize is partSize.
var PartSize = partSize
