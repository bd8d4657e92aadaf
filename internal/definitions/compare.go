package definitions

import (
	"maps"
	"slices"
)

// Skew is how the definition of a kind in a cluster differs from that of this version.
type Skew struct {
	Kind string
	// Missing are fields of this version that the cluster does not have. The API server drops what is
	// written into them.
	Missing []string
	// Unknown are fields of the cluster that this version does not have.
	Unknown []string
}

// Compare tells the skew of every kind of this version, sorted by kind. A kind that the cluster does not
// have lacks all of its fields.
func Compare(own, served Fields) []Skew {
	skews := make([]Skew, 0, len(own))
	for _, kind := range slices.Sorted(maps.Keys(own)) {
		skews = append(skews, Skew{Kind: kind, Missing: without(own[kind], served[kind]), Unknown: without(served[kind], own[kind])})
	}
	return skews
}

// without are the fields of a sorted list that another one does not have.
func without(fields, known []string) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(field string) bool {
		_, found := slices.BinarySearch(known, field)
		return found
	})
}
