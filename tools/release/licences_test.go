package main

import (
	"path/filepath"
	"slices"
	"testing"
)

// allowed are licences under which code may be shipped in a program under Apache-2.0 without asking for more than its
// notice. Add one after reading it.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

func TestDependencies_OfWhatIsShipped_HaveLicencesThatAreAllowed(t *testing.T) {
	packages, err := listPackages(t.Context(), filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	licences, err := licencesOf(packages)
	if err != nil {
		t.Fatal(err)
	}
	shipped := modules(packages)
	if len(shipped) < 50 {
		t.Errorf("only %d modules were found", len(shipped))
	}
	for _, m := range shipped {
		if len(licences[m.Path]) == 0 {
			t.Errorf("%s %s has no licence", m.Path, m.Version)
		}
		for _, id := range licences[m.Path] {
			if !slices.Contains(allowed, id) {
				t.Errorf("%s %s is under %s, which is not allowed", m.Path, m.Version, id)
			}
		}
	}
}

func TestLicences_UnknownText_IsNamed(t *testing.T) {
	dir := write(t, map[string]string{"LICENSE.txt": "You may do with this whatever you want on Sundays."})
	_, err := licencesOf([]sourcePackage{{ImportPath: "example.com/a", Dir: dir, Module: &sourceModule{Path: "example.com/a", Dir: dir}}})
	if err == nil {
		t.Error("a licence that nobody knows was accepted")
	}
}

func TestLicences_OfAFolderInside_CountForThePackagesBelowIt(t *testing.T) {
	dir := write(t, map[string]string{
		"LICENSE": isc, "inner/COPYING": zeroBSD, "other/COPYING": "nonsense", "inner/deep/a.go": "package deep",
	})
	m := &sourceModule{Path: "example.com/a", Dir: dir}
	got, err := licencesOf([]sourcePackage{{ImportPath: "example.com/a/inner/deep", Dir: filepath.Join(dir, "inner", "deep"), Module: m}})
	if want := []string{"0BSD", "ISC"}; err != nil || !slices.Equal(got[m.Path], want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

const (
	zeroBSD = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby
granted.
` + asIs
	isc = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby
granted, provided that the above copyright notice and this permission notice appear in all copies.
` + asIs
	asIs = `
THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
THIS SOFTWARE.
`
)
