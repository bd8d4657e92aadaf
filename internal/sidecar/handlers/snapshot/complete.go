package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// checkChunks compares the files of a snapshot in a directory with its entry. With
// hashes every byte is read.
func checkChunks(ctx context.Context, dir string, e entry, hashes bool) error {
	chunks := e.dir(dir)
	files, err := os.ReadDir(chunks)
	if err != nil {
		return fmt.Errorf("the index names format %d of snapshot %d, which is not there: %w", e.format, e.height, err)
	}
	if len(files) != int(e.chunks) {
		return fmt.Errorf("the index gives snapshot %d %d chunks, there are %d", e.height, e.chunks, len(files))
	}
	for i, want := range e.hashes {
		if err := ctx.Err(); err != nil {
			return err
		}
		file := filepath.Join(chunks, strconv.Itoa(i))
		if !hashes {
			if _, err := os.Stat(file); err != nil {
				return fmt.Errorf("chunk %d of snapshot %d: %w", i, e.height, err)
			}
			continue
		}
		sum, err := hashChunk(file)
		if err != nil {
			return fmt.Errorf("chunk %d of snapshot %d: %w", i, e.height, err)
		}
		if !bytes.Equal(sum, want) {
			return fmt.Errorf("chunk %d of snapshot %d has SHA-256 %x, the index says %x", i, e.height, sum, want)
		}
	}
	return nil
}

// dir is where the chunks of a snapshot are below the directory of snapshots.
func (e entry) dir(snapshots string) string {
	return filepath.Join(snapshots, strconv.FormatUint(e.height, 10), strconv.FormatUint(uint64(e.format), 10))
}

func hashChunk(file string) ([]byte, error) {
	f, err := os.Open(file) //nolint:gosec // a chunk below the snapshot directory
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return nil, err
	}
	return hash.Sum(nil), nil
}
