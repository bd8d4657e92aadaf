package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// placeKeyring belongs to the pod and not to the configuration: each start of a pod
// writes it.
var placeKeyring = Place{ClientToml, "keyring-backend"}

// Digest names the content of the files: comments, quotes and order make no difference,
// nor does the keyring of the command line, which each start of a pod sets.
func (f Files) Digest() (string, error) { return f.digest([]Place{placeKeyring}) }

func (f Files) digest(skip []Place) (string, error) {
	files := f.clone()
	for _, place := range skip {
		files.tree(place.File).remove(place.Path)
	}
	contents, err := files.Encode()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range FileNames() {
		data, exists := contents[name]
		_, _ = fmt.Fprintf(sum, "%s %v %d\n", name, exists, len(data))
		_, _ = sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Complete returns f with the files of others in the place of those that f lacks.
func (f Files) Complete(others Files) Files {
	out := f.clone()
	for _, name := range FileNames() {
		if slot, err := out.slot(name); err == nil && *slot == nil {
			*slot = others.tree(name).clone()
		}
	}
	return out
}
