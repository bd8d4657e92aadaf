package platform

import "strings"

// NamesRegistry reports whether an image's name begins with the host of a registry. What
// a container runtime makes of a name without one is its own affair; most look at a
// public registry, where anybody may own that name.
func NamesRegistry(image string) bool {
	host, _, found := strings.Cut(image, "/")
	return found && (strings.ContainsAny(host, ".:") || host == "localhost")
}

func (k *checker) image(field, name string) {
	if !NamesRegistry(name) {
		k.failf(field, "%q names no registry, and what it would be pulled from is left to chance: "+
			"write the registry's host first, as in registry.example.com/sei-operator/sidecar:v1.0.0", name)
	}
}
