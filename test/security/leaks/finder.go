package leaks

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// Finding is a secret in a place where it does not belong. It does not hold the secret.
type Finding struct {
	// Place is a file, or what was looked through.
	Place string
	// Offset is where in it the secret begins.
	Offset int
	// Origin is that of the Secret, or what the bytes look like.
	Origin string
	// Encoding is how it is written down.
	Encoding string
}

// prefixLength is how much of a text is compared first. Every text that is looked for is longer.
const prefixLength = 8

// filterBits makes a filter of 64 KiB, which stays in a processor's cache.
const filterBits = 19

// Finder looks for many secrets at once.
type Finder struct {
	filter [1 << (filterBits - 6)]uint64
	texts  map[uint64][]text
	known  map[string]bool
}

type text struct {
	bytes            []byte
	origin, encoding string
}

// Add looks for secrets from now on.
func (f *Finder) Add(secrets ...Secret) {
	if f.texts == nil {
		f.texts, f.known = map[uint64][]text{}, map[string]bool{}
	}
	for _, s := range secrets {
		for encoding, written := range encodings(s.Value) {
			if len(written) <= prefixLength || f.known[written] {
				continue
			}
			f.known[written] = true
			prefix := binary.LittleEndian.Uint64([]byte(written))
			f.texts[prefix] = append(f.texts[prefix], text{[]byte(written), s.Origin, encoding})
			bit := spread(prefix)
			f.filter[bit>>6] |= 1 << (bit & 63)
		}
	}
}

// Len is how many texts are looked for.
func (f *Finder) Len() int { return len(f.known) }

// Find looks through data.
func (f *Finder) Find(place string, data []byte) (found []Finding) {
	for i := 0; i+prefixLength <= len(data); i++ {
		prefix := binary.LittleEndian.Uint64(data[i:])
		if bit := spread(prefix); f.filter[bit>>6]&(1<<(bit&63)) == 0 {
			continue
		}
		for _, t := range f.texts[prefix] {
			if bytes.HasPrefix(data[i:], t.bytes) {
				found = append(found, Finding{place, i, t.origin, t.encoding})
			}
		}
	}
	return append(found, shapes(place, data)...)
}

// spread maps a prefix to a bit of the filter.
func spread(prefix uint64) uint64 { return (prefix * 0x9E3779B97F4A7C15) >> (64 - filterBits) }

// encodings are the ways in which a value may be written down.
func encodings(value []byte) map[string]string {
	written := map[string]string{
		"as it is":         string(value),
		"hex":              hex.EncodeToString(value),
		"upper-case hex":   strings.ToUpper(hex.EncodeToString(value)),
		"base64":           inBase64(value, 0),
		"base64, 1 before": inBase64(value, 1),
		"base64, 2 before": inBase64(value, 2),
	}
	for _, name := range []string{"base64", "base64, 1 before", "base64, 2 before"} {
		written["URL-safe "+name] = strings.NewReplacer("+", "-", "/", "_").Replace(written[name])
	}
	return written
}

// inBase64 is the part of a base64 text that is the same whatever stands before and after the value. before is how
// many bytes do, modulo 3.
func inBase64(value []byte, before int) string {
	encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), value...))
	whole := (before + len(value)) * 8 / 6 // the last character may depend on what follows
	return encoded[(before*8+5)/6 : whole]
}
