package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadOnlyAreas_AreThoseOfTheBinaryThatNobodyWrites(t *testing.T) {
	got := readOnlyAreas(strings.NewReader(`00400000-01a2b000 r-xp 00000000 08:01 131 /bin/sidecar
01a2b000-03b00000 r--p 0162b000 08:01 131 /bin/sidecar
03b00000-03d00000 rw-p 03700000 08:01 131 /bin/sidecar
c000000000-c000400000 rw-p 00000000 00:00 0
7f0000000000-7f0000001000 r--s 00000000 08:01 132 /sei/sidecar.bolt
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0 [stack]
`), "/bin/sidecar")
	want := []area{{0x400000, 0x1a2b000}, {0x1a2b000, 0x3b00000}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(area{})); diff != "" {
		t.Error(diff)
	}
}
