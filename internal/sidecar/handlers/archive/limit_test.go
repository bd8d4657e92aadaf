package archive_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/archive"
)

// The limit is for all files together.
func TestUnpack_FilesOverTheLimitTogether_AreTooLarge(t *testing.T) {
	two := func() []byte {
		return tarGz(t, &tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 60}, &tar.Header{Name: "b", Typeflag: tar.TypeReg, Size: 60})
	}
	if _, err := archive.Unpack(t.Context(), bytes.NewReader(two()), t.TempDir(), archive.Limits{Bytes: 100}); !errors.Is(err, archive.ErrTooLarge) {
		t.Errorf("120 bytes in two files, 100 allowed: %v", err)
	}
	if _, err := archive.Unpack(t.Context(), bytes.NewReader(two()), t.TempDir(), archive.Limits{Bytes: 120}); err != nil {
		t.Errorf("120 bytes in two files, 120 allowed: %v", err)
	}
}
