package leaks

import "regexp"

// shape is what a kind of secret looks like, whosoever it is.
type shape struct {
	what    string
	pattern *regexp.Regexp
}

// known shapes. A token has a header, claims and a signature; with less it opens nothing.
var known = []shape{
	{"a token", regexp.MustCompile(`eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{40,}`)},
	{"a private key in PEM", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
	{"a private key file of the chain", regexp.MustCompile(`tendermint/PrivKey[A-Za-z0-9]+\\*"[^{}]{0,40}value`)},
	{"a mnemonic", regexp.MustCompile(`only way to recover your account`)},
}

func shapes(place string, data []byte) (found []Finding) {
	for _, s := range known {
		for _, at := range s.pattern.FindAllIndex(data, -1) {
			found = append(found, Finding{place, at[0], s.what, "as it is"})
		}
	}
	return found
}
