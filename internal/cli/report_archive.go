package cli

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/internal/cli/redact"
)

// writeArchive packs files, by path, in the order of their paths. It is the only way into an
// archive, and everything that goes through it is redacted.
func writeArchive(w io.Writer, folder string, at time.Time, files map[string]string) error {
	zipped := gzip.NewWriter(w)
	packed := tar.NewWriter(zipped)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		content := redact.Text(files[path])
		header := &tar.Header{Name: folder + "/" + path, Mode: 0o600, Size: int64(len(content)), ModTime: at.UTC().Truncate(time.Second)}
		if err := packed.WriteHeader(header); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		if _, err := io.WriteString(packed, content); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	if err := packed.Close(); err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	return zipped.Close()
}
